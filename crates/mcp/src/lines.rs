//! Messages as lines. A line that can't be read is answered as well, because its client waits.

use std::io;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, FramedRead};

/// A reader and a writer of lines.
pub(crate) struct Lines<R, W> {
    lines: FramedRead<R, AnyDelimiterCodec>,
    writer: Arc<Mutex<W>>,
    /// The answer to a line that can't be read, until it is sent. Kept here because
    /// [`receive`](Transport::receive) may be cancelled.
    refusal: Option<BoxFuture<'static, io::Result<()>>>,
}

impl<R: AsyncRead, W> Lines<R, W> {
    pub(crate) fn new(reader: R, writer: W, max_line_bytes: usize) -> Self {
        let newline = b"\n".to_vec();
        let codec =
            AnyDelimiterCodec::new_with_max_length(newline.clone(), newline, max_line_bytes);
        Self {
            lines: FramedRead::new(reader, codec),
            writer: Arc::new(Mutex::new(writer)),
            refusal: None,
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');

            let mut writer = writer.lock().await;
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(sending) = &mut self.refusal {
                let sent = sending.await;
                self.refusal = None;
                sent.ok()?;
            }

            let (error, id) = match self.lines.next().await? {
                Ok(line) => match message(&line) {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => continue,
                    Err(refusal) => refusal,
                },
                Err(AnyDelimiterCodecError::MaxChunkLengthExceeded) => {
                    // After an error, the stream pauses once.
                    self.lines.next().await;
                    let most = self.lines.decoder().max_length();
                    let message = format!("the message is too long; expected at most {most} bytes");
                    let error = ErrorData::invalid_request(message, None);
                    (error, None)
                }
                Err(AnyDelimiterCodecError::Io(_)) => return None,
            };
            let refusal = ServerJsonRpcMessage::error(error, id);
            self.refusal = Some(Box::pin(self.send(refusal)));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.shutdown().await
    }
}

/// What can be read of a message whose content cannot.
#[derive(Deserialize)]
struct Envelope {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
}

/// What is wrong with a line, and the id of its request.
type Refusal = (ErrorData, Option<RequestId>);

/// Returns the message in a line, or `None` if the line needs no answer.
fn message(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    // Some tools start a text with a byte order mark.
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }

    let error = match serde_json::from_slice(line) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    if line.trim_ascii_start().starts_with(b"[") && error.is_data() {
        let problem = "batches aren't taken; send each message on a line of its own";
        return Err((ErrorData::invalid_request(problem, None), None));
    }
    let envelope = serde_json::from_slice::<Envelope>(line).ok();
    let id = match envelope {
        // Notifications are never answered.
        Some(Envelope {
            id: None,
            method: Some(_),
        }) => return Ok(None),
        Some(envelope) => envelope.id,
        None => None,
    };

    let problem = format!("the message can't be read: {error}");
    let error = match error.classify() {
        Category::Data => ErrorData::invalid_request(problem, None),
        _ => ErrorData::parse_error(problem, None),
    };
    Err((error, id))
}
