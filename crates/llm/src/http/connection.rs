use std::fmt;
use std::sync::Arc;

use super::call_ids::CallIds;
use super::excerpt::Secrets;
use super::exchange::Exchange;
use super::protocol::{Call, Chat, Extra, Protocol};
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

/// A decoded response.
pub(crate) struct Reply<T> {
    pub(crate) value: T,
    request_id: Option<String>,
}

impl Connection {
    pub(crate) async fn complete(
        &self,
        chat: &'static Chat,
        request: ChatRequest,
    ) -> Result<ChatResponse, LlmError> {
        let body = self.encode(chat, &request, false)?;
        let decode = |body: &[u8], secrets: &Secrets| {
            let response = (chat.decode)(body, secrets)?;
            CallIds::of(&request).whole(response)
        };
        let reply = self.post(body, decode).await?;

        Ok(match reply.request_id {
            Some(id) => reply.value.with_request_id(id),
            None => reply.value,
        })
    }

    /// Sends `body` and decodes the response.
    pub(crate) async fn post<T>(
        &self,
        body: Vec<u8>,
        decode: impl Fn(&[u8], &Secrets) -> Result<T, LlmError>,
    ) -> Result<Reply<T>, LlmError> {
        let answer = self.exchange.post(body).await?;
        let secrets = self.exchange.secrets();

        let value = decode(&answer.body, secrets).map_err(|error| {
            let error = answer.origin.sign(error);
            error.with_body(secrets.body(&answer.body))
        })?;

        Ok(Reply {
            value,
            request_id: answer.origin.request_id,
        })
    }

    pub(crate) async fn stream(
        &self,
        chat: &'static Chat,
        request: ChatRequest,
    ) -> Result<ReplyStream, LlmError> {
        let body = self.encode(chat, &request, true)?;
        let response = self.exchange.open_stream(body).await?;

        Ok(streaming::reply(
            chat,
            self.exchange.clone(),
            response,
            CallIds::of(&request),
        ))
    }

    fn encode(
        &self,
        chat: &Chat,
        request: &ChatRequest,
        stream: bool,
    ) -> Result<Vec<u8>, LlmError> {
        check::check(request)?;

        (chat.encode)(&Call {
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
