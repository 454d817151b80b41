//! Reads the body of a request within its limits.

use std::pin::pin;

use bytes::{Buf, Bytes, BytesMut};
use http::StatusCode;
use http_body::Body;
use http_body_util::BodyExt;
use rmcp::model::RequestId;

use super::refusal::{self, Answer};
use super::settings::HttpSettings;
use crate::ServerLimits;
use crate::wire::IdFinder;

/// How much more than the limit is read to find the id of the request, as a multiple.
const READ_ON: usize = 4;

/// Why there is no body.
enum Failure {
    TooLong(Option<RequestId>),
    Broken,
}

/// Returns the whole body, or an answer that says why there is none.
pub(crate) async fn read<B>(
    body: B,
    limits: ServerLimits,
    settings: &HttpSettings,
) -> Result<Bytes, Answer>
where
    B: Body + Send,
{
    let reading = collect(body, limits.message_bytes);
    let Ok(result) = tokio::time::timeout(settings.body_timeout, reading).await else {
        let message = "the body of the request did not arrive in time";
        return Err(refusal::error(StatusCode::REQUEST_TIMEOUT, message, None));
    };

    result.map_err(|failure| match failure {
        Failure::TooLong(id) => {
            let answer = crate::wire::Incoming::too_long(id, limits.message_bytes);
            refusal::messages(StatusCode::PAYLOAD_TOO_LARGE, &[answer])
        }
        Failure::Broken => {
            let message = "the body of the request could not be read";
            refusal::error(StatusCode::BAD_REQUEST, message, None)
        }
    })
}

async fn collect<B>(body: B, max_bytes: usize) -> Result<Bytes, Failure>
where
    B: Body + Send,
{
    let mut body = pin!(body);
    let mut text = BytesMut::new();
    let mut length = 0_usize;
    let mut finder = IdFinder::default();

    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Failure::Broken)?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };

        let piece = data.copy_to_bytes(data.remaining());
        length = length.saturating_add(piece.len());
        finder.read(&piece);
        if length <= max_bytes {
            text.extend_from_slice(&piece);
        } else {
            text = BytesMut::new();
        }
        if length > max_bytes.saturating_mul(READ_ON) {
            break;
        }
    }

    if length > max_bytes {
        return Err(Failure::TooLong(finder.finish()));
    }
    Ok(text.freeze())
}
