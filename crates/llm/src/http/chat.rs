//! A model on a server: asks it, changes what it refuses, and keeps what it wants back.

use std::fmt;
use std::sync::{Arc, Mutex};

use reqwest::Response;
use serde_json::Value;

use super::exchange::{Exchange, Origin};
use super::failure::Refusal;
use super::{Connection, stream};
use crate::backend::{Adjustment, Capabilities};
use crate::locked::locked;
use crate::wire::calls::CallIds;
use crate::wire::provider_data::{received, returned};
use crate::wire::{Api, Call, Encoded, PROVIDER_DATA, invalid};
use crate::{
    ChatRequest, ChatResponse, FinishReason, LlmError, Message, ReplyStream, Role, ToolChoice,
    Usage,
};

/// The maximum number of requests in which a server finishes one reply that it paused.
const PAUSES: usize = 10;
/// The finish reason of a reply that the server paused.
const PAUSE: &str = "pause_turn";

/// A model on a server, for conversations. Clones share what they learn about the server.
#[derive(Clone)]
pub(crate) struct ChatConnection {
    connection: Arc<Connection>,
    api: &'static Api,
    /// The API that the server may demand instead.
    other_api: Option<&'static Api>,
    /// What the server refused.
    learned: Arc<Mutex<Vec<Adjustment>>>,
}

/// A request that was sent, and where its response comes from.
pub(super) struct Sent {
    pub(super) api: &'static Api,
    pub(super) origin: Origin,
    adjustments: Vec<Adjustment>,
}

impl ChatConnection {
    pub(crate) fn new(
        connection: Connection,
        api: &'static Api,
        other_api: Option<&'static Api>,
    ) -> Self {
        Self {
            api: connection.options.api.unwrap_or(api),
            other_api: other_api.filter(|_| connection.options.api.is_none()),
            connection: Arc::new(connection),
            learned: Arc::default(),
        }
    }

    /// Returns the capabilities that the model doesn't have.
    pub(crate) fn missing(&self) -> Capabilities {
        self.connection.options.missing
    }

    pub(super) fn exchange(&self) -> &Exchange {
        &self.connection.exchange
    }

    pub(crate) async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let mut conversation = self.conversation(request, false);

        loop {
            let reply = self.reply(&conversation).await?;
            let has_calls = !reply.tool_calls().is_empty();
            if let Some(whole) = conversation.take(reply, has_calls) {
                return Ok(whole);
            }
        }
    }

    pub(crate) async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let conversation = self.conversation(request, true);
        let sent = self.send(&conversation).await?;

        Ok(stream::reply(self.clone(), conversation, sent))
    }

    fn conversation(&self, request: ChatRequest, is_streamed: bool) -> Conversation {
        let has_cache = self.connection.options.cache.is_some();
        Conversation {
            hides_calls: has_cache && request.tool_choice() == Some(&ToolChoice::None),
            request,
            is_streamed,
            ..Conversation::default()
        }
    }

    async fn reply(&self, conversation: &Conversation) -> Result<ChatResponse, LlmError> {
        let request = &conversation.request;
        let (sent, response) = self.send(conversation).await?;
        let exchange = self.exchange();

        let decode = |value: &Value, body: &[u8]| {
            let mut ids = CallIds::of(request);
            let response = ids.whole((sent.api.decode)(value, body)?)?;
            self.finished(request, &sent, response, &ids)
        };
        exchange.read(response, &sent.origin, decode).await
    }

    /// Sends a request. What the server refuses is changed, once each, and remembered if the server
    /// then accepts the request.
    pub(super) async fn send(
        &self,
        conversation: &Conversation,
    ) -> Result<(Sent, Response), LlmError> {
        check(&conversation.request)?;
        // A copy, so that what other calls learn meanwhile doesn't change this one.
        let mut adjustments = locked(&self.learned).clone();
        let mut learned = Vec::new();

        loop {
            let api = self.api(&adjustments);
            let encoded = self.encode(api, conversation, &adjustments)?;
            let opened = self
                .exchange()
                .open(api.endpoint, encoded.body, conversation.is_streamed);
            let refusal = match opened.await {
                Ok((response, origin)) => {
                    // Only now is it certain that the server wanted these changes.
                    self.learn(learned);
                    // The body doesn't show which API was used.
                    let apis = adjustments.into_iter().filter(is_of_api);
                    let sent = Sent {
                        api,
                        origin,
                        adjustments: encoded.adjustments.into_iter().chain(apis).collect(),
                    };
                    return Ok((sent, response));
                }
                Err(refusal) => refusal,
            };

            let (adjustment, is_remembered) = self.next_adjustment(api, refusal, &adjustments)?;
            learned.extend(is_remembered.then(|| adjustment.clone()));
            adjustments.push(adjustment);
        }
    }

    fn learn(&self, mut adjustments: Vec<Adjustment>) {
        let mut known = locked(&self.learned);
        adjustments.retain(|adjustment| !known.contains(adjustment));
        known.extend(adjustments);
    }

    /// Returns what to change after a refusal, and whether to remember it, or the error if there is
    /// nothing to change.
    fn next_adjustment(
        &self,
        api: &Api,
        refusal: Refusal,
        made: &[Adjustment],
    ) -> Result<(Adjustment, bool), LlmError> {
        let mut parts = api.refusable.iter();
        let refused = parts.find(|part| {
            // A client that is kept to one API never changes it.
            let is_possible = self.other_api.is_some() || !is_of_api(&part.adjustment());
            is_possible && refusal.is_about(part.named)
        });
        let Some(refused) = refused else {
            return Err(refusal.error);
        };

        let adjustment = refused.adjustment();
        // A server that blames one setting for everything would otherwise be asked forever.
        if made.contains(&adjustment) {
            let setting = refused.setting;
            let note = format_args!("the server refuses {setting}, even after a change");
            return Err(refusal.error.with_note(note));
        }

        Ok((adjustment, refused.is_remembered))
    }

    fn api(&self, adjustments: &[Adjustment]) -> &'static Api {
        let is_replaced = adjustments.iter().any(is_of_api);
        self.other_api.filter(|_| is_replaced).unwrap_or(self.api)
    }

    fn encode(
        &self,
        api: &Api,
        conversation: &Conversation,
        adjustments: &[Adjustment],
    ) -> Result<Encoded, LlmError> {
        let request = &conversation.request;
        // A server that refuses its own data gets none of it, since a part would be refused, too.
        let returned = if adjustments.contains(&Adjustment::omitted(PROVIDER_DATA)) {
            vec![None; request.messages().len()]
        } else {
            returned(self.owner(api), request)
        };

        (api.encode)(&Call {
            model: &self.connection.model,
            request,
            extra: &self.connection.extra,
            stream: conversation.is_streamed,
            adjustments,
            returned,
            cache: self.connection.options.cache,
            forbids_calls: conversation.forbids_calls,
        })
    }

    /// Returns a response that was read, with what is known about its request.
    pub(super) fn finished(
        &self,
        request: &ChatRequest,
        sent: &Sent,
        mut response: ChatResponse,
        ids: &CallIds,
    ) -> Result<ChatResponse, LlmError> {
        response.adjustments = sent.adjustments.clone().into();
        response.request_id.clone_from(&sent.origin.request_id);

        // Data with ids of calls is valid only with the ids of the server.
        let is_valid = !(sent.api.data_has_call_ids && ids.has_made_ids());
        if let Some(data) = response.provider_data.take().filter(|_| is_valid) {
            let data = received(self.owner(sent.api), request, &data)?;
            response.provider_data = Some(data.into());
        }
        Ok(response)
    }

    /// Returns the owner of the data: the API, the server and the model.
    fn owner<'a>(&'a self, api: &'a Api) -> [&'a str; 3] {
        [
            api.endpoint,
            &self.exchange().shown_url,
            &self.connection.model,
        ]
    }
}

/// Returns whether one API was replaced by another one.
fn is_of_api(adjustment: &Adjustment) -> bool {
    adjustment.setting().starts_with('/')
}

impl fmt::Debug for ChatConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.connection.fmt(f)
    }
}

/// A request, and the parts of its reply so far.
#[derive(Default)]
pub(super) struct Conversation {
    pub(super) request: ChatRequest,
    is_streamed: bool,
    /// Whether calls are hidden from the caller, who forbade them: that isn't sent at first, because
    /// it loses what the server has cached.
    hides_calls: bool,
    /// Whether calls are forbidden by a setting nevertheless.
    forbids_calls: bool,
    /// What the server said before it paused.
    parts: Vec<ChatResponse>,
    usage: Option<Usage>,
}

impl Conversation {
    pub(super) fn hides_calls(&self) -> bool {
        self.hides_calls && !self.forbids_calls
    }

    /// Takes a response. Returns the reply, or `None` if another request is needed.
    pub(super) fn take(
        &mut self,
        mut response: ChatResponse,
        has_calls: bool,
    ) -> Option<ChatResponse> {
        if let Some(usage) = response.usage() {
            *self.usage.get_or_insert_default() += usage;
        }

        // The model called a tool all the same, so calls are forbidden now, at the price of the
        // cache.
        if has_calls && self.hides_calls() {
            self.forbids_calls = true;
            return None;
        }

        let is_paused = *response.finish_reason() == FinishReason::Other(PAUSE.to_owned());
        // Claude continues a long reply once it gets back what it said so far.
        if is_paused && self.parts.len() < PAUSES {
            self.request.push(response.message());
            self.parts.push(response);
            return None;
        }

        if !self.parts.is_empty() {
            // The server wants the data of all parts, or none. This message has only that of the
            // last.
            let parts = || self.parts.iter().chain([&response]);
            let text: String = parts().map(ChatResponse::text).collect();
            let reasoning: String = parts().filter_map(ChatResponse::reasoning).collect();
            response = response.with_text(text).with_reasoning(reasoning);
        }
        response.usage = self.usage;
        Some(response)
    }
}

/// Checks what no server can make sense of.
fn check(request: &ChatRequest) -> Result<(), LlmError> {
    // JSON has no such numbers: null would be sent, and the server would use its default.
    if let Some(temperature) = request.temperature().filter(|t| !t.is_finite()) {
        let message = format!("the temperature is {temperature}; expected a finite number");
        return Err(invalid(message));
    }

    for (place, message) in request.messages().iter().enumerate() {
        if let Some(problem) = problem(message) {
            return Err(invalid(format!("messages[{place}] has {problem}")));
        }
    }

    Ok(())
}

fn problem(message: &Message) -> Option<&'static str> {
    let has_calls = !message.tool_calls().is_empty();
    let has_blocks = !message.blocks().is_empty();

    match message.role() {
        Role::Tool if message.tool_call_id().is_none() => {
            Some("no tool call id; expected Message::tool_result or Message::tool_failure")
        }
        Role::System | Role::User | Role::Tool if has_calls => {
            Some("tool calls; expected them in the role assistant")
        }
        Role::System | Role::Assistant if has_blocks => {
            Some("images or files; expected them in the role user")
        }
        _ => None,
    }
}

/// Implements everything that is the same for all clients. Their constructors differ in documentation.
macro_rules! client {
    ($client:ident, [$($capability:ident),*]) => {
        #[async_trait::async_trait]
        impl crate::LlmClient for $client {
            /// # Errors
            ///
            /// Returns the errors [listed for `OpenAiClient`](crate::OpenAiClient#errors).
            async fn complete(
                &self,
                request: crate::ChatRequest,
            ) -> Result<crate::ChatResponse, crate::LlmError> {
                self.0.complete(request).await
            }

            /// # Errors
            ///
            /// Returns the errors [listed for `OpenAiClient`](crate::OpenAiClient#errors).
            async fn stream(
                &self,
                request: crate::ChatRequest,
            ) -> Result<crate::ReplyStream, crate::LlmError> {
                self.0.stream(request).await
            }

            /// Returns the capabilities of the protocol, except for those that were taken
            /// [away](crate::http::HttpClientBuilder::without). A server or a model that supports fewer refuses the
            /// request with an error of kind `InvalidRequest`.
            fn capabilities(&self) -> crate::backend::Capabilities {
                let all = crate::backend::Capabilities::none()$(.with(crate::backend::Capability::$capability))*;
                all.except(self.0.missing())
            }
        }

        impl std::fmt::Debug for $client {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
pub(crate) use client;
