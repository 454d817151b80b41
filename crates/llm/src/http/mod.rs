//! What the clients over HTTP share: the settings before a call, the exchange, the reading of a
//! failure and of a stream, and what of a server's words may be shown. What differs between them
//! is a [`Protocol`]: a table, which each client fills in beside its wire format.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::{ChatRequest, ChatResponse, Delta, LlmError, ReplyStream};

mod settings;
pub use settings::HttpClientBuilder;
use settings::{variable, wrong};

mod base_url;
mod braces;
mod call_ids;
pub(crate) mod calls;
mod check;
mod client;
mod excerpt;
mod exchange;
pub(crate) mod failure;
pub(crate) mod json;
mod retry_after;
mod sse;
mod streaming;
mod tls;
pub(crate) mod tools;

pub(crate) use check::invalid;
pub(crate) use client::{client, from_env};
pub(crate) use excerpt::Secrets;
pub(crate) use sse::Event;

use call_ids::CallIds;

/// Fields that settings add to every request.
pub(crate) type Extra = BTreeMap<String, Value>;

/// How one kind of server wants to be spoken to.
pub(crate) struct Protocol {
    /// The name of the client's type.
    pub(crate) client: &'static str,
    /// The first part of the path, which a base URL may have already.
    pub(crate) prefix: &'static str,
    /// The path, from `prefix` on.
    pub(crate) endpoint: &'static str,
    /// A base URL, for complaints about another one.
    pub(crate) example: &'static str,
    /// Where base URLs often end, as the end of a sentence.
    pub(crate) hint: &'static str,
    /// Fields that `extra` must not set.
    pub(crate) reserved: &'static [&'static str],
    /// The header of the key, and what goes before the key in it.
    pub(crate) key: (&'static str, &'static str),
    /// Headers of every request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) framing: Framing,
    pub(crate) encode: fn(&Call<'_>) -> Result<Vec<u8>, LlmError>,
    /// Reads a whole answer with a good status.
    pub(crate) decode: fn(&[u8], &Secrets) -> Result<ChatResponse, LlmError>,
    /// What reads the events of a stream.
    pub(crate) reader: fn() -> Box<dyn Reader>,
}

impl Protocol {
    /// The path after the base URL.
    fn path(&self) -> String {
        format!("{}{}", self.prefix, self.endpoint)
    }

    /// A base URL, or its path, with the path of the protocol.
    fn path_after(&self, base: &str) -> String {
        let base = base.strip_suffix(self.prefix).unwrap_or(base);
        format!("{base}{}", self.path())
    }
}

/// How the events of a stream are told apart.
#[derive(Clone, Copy)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON value a line.
    Lines,
}

/// What goes into the body of a request.
pub(crate) struct Call<'a> {
    pub(crate) model: &'a str,
    pub(crate) request: &'a ChatRequest,
    pub(crate) extra: &'a Extra,
    pub(crate) stream: bool,
}

/// Makes deltas of the events of one stream.
pub(crate) trait Reader: Send {
    /// Reads one event, and puts what it says at the end of `deltas`; [`Delta::End`] when it is
    /// the mark of the end.
    fn read(
        &mut self,
        event: &Event,
        secrets: &Secrets,
        deltas: &mut VecDeque<Delta>,
    ) -> Result<(), LlmError>;

    /// How many bytes of the reply it has read and not yet given out.
    fn held(&self) -> usize {
        0
    }

    /// Puts the end at the end of `deltas`, if the reply can be whole though the stream ends here, in
    /// good order but without the mark of the end; whether it is.
    fn end_without_mark(&mut self, _: &Secrets, _: &mut VecDeque<Delta>) -> Result<bool, LlmError> {
        Ok(false)
    }
}

/// A server, and how to speak to it.
pub(crate) struct Connection {
    pub(crate) protocol: &'static Protocol,
    pub(crate) base_url: String,
    pub(crate) model: String,
    pub(crate) extra: Extra,
    pub(crate) exchange: Arc<exchange::Exchange>,
}

impl Connection {
    pub(crate) async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let answer = self.exchange.post(self.encode(&request, false)?).await?;
        let response = (self.protocol.decode)(&answer.body, self.exchange.secrets());
        match response.and_then(|response| CallIds::of(&request).whole(response)) {
            Ok(response) => Ok(match answer.origin.request_id {
                Some(id) => response.with_request_id(id),
                None => response,
            }),
            Err(error) => Err(answer
                .origin
                .sign(error)
                .with_body(self.exchange.secrets().body(&answer.body))),
        }
    }

    pub(crate) async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let response = self
            .exchange
            .open(self.encode(&request, true)?, true)
            .await?;
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
