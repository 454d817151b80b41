use std::fmt;
use std::sync::Arc;

use super::call_ids::CallIds;
use super::exchange::Exchange;
use super::protocol::{Call, Extra, Protocol};
use super::{check, streaming};
use crate::{ChatRequest, ChatResponse, LlmError, ReplyStream};

/// A server, a model and a protocol.
pub(crate) struct Connection {
    pub(super) protocol: &'static Protocol,
    pub(super) base_url: String,
    pub(super) model: String,
    pub(super) extra: Extra,
    pub(super) exchange: Arc<Exchange>,
}

impl Connection {
    pub(crate) async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let answer = self.exchange.post(self.encode(&request, false)?).await?;
        let secrets = self.exchange.secrets();

        let response = (self.protocol.decode)(&answer.body, secrets)
            .and_then(|response| CallIds::of(&request).whole(response))
            .map_err(|error| {
                let error = answer.origin.sign(error);
                error.with_body(secrets.body(&answer.body))
            })?;

        Ok(match answer.origin.request_id {
            Some(id) => response.with_request_id(id),
            None => response,
        })
    }

    pub(crate) async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let body = self.encode(&request, true)?;
        let response = self.exchange.open_stream(body).await?;

        Ok(streaming::reply(
            self.protocol,
            self.exchange.clone(),
            response,
            CallIds::of(&request),
        ))
    }

    fn encode(&self, request: &ChatRequest, stream: bool) -> Result<Vec<u8>, LlmError> {
        check::check(request)?;

        (self.protocol.encode)(&Call {
            model: &self.model,
            request,
            extra: &self.extra,
            stream,
        })
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = self.exchange.secrets();

        f.debug_struct(self.protocol.client)
            .field("base_url", &secrets.setting(&self.base_url))
            .field("model", &secrets.setting(&self.model))
            .finish_non_exhaustive()
    }
}
