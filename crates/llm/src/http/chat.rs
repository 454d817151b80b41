//! A model on a server: asks it, changes what it refuses, and keeps what it wants back.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::Response;
use serde_json::Value;

use super::exchange::{Exchange, Origin};
use super::failure::Refusal;
use super::{Connection, stream};
use crate::wire::calls::CallIds;
use crate::wire::provider_data::{received, returned};
use crate::wire::{Api, Call, Decoded, Encoded, PROVIDER_DATA, invalid, tools};
use crate::{
    Adjustment, ChatRequest, ChatResponse, FinishReason, LlmError, Message, ReplyStream, Role,
    ToolChoice, Usage,
};

/// The maximum number of requests in which a server finishes one reply that it paused.
const PAUSES: usize = 10;
/// The finish reason of a reply that the server paused.
const PAUSE: &str = "pause_turn";

/// A model on a server, for conversations. Clones share what they learn about the server.
#[derive(Clone)]
pub(crate) struct ChatConnection {
    pub(super) connection: Arc<Connection>,
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

/// How a request is made.
#[derive(Clone, Copy, Default)]
pub(super) struct Manner {
    pub(super) is_streamed: bool,
    /// Whether tool calls are forbidden by a setting, even if that loses what the server has cached.
    pub(super) forbids_calls: bool,
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

    fn exchange(&self) -> &Exchange {
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

    fn conversation(&self, request: ChatRequest, is_streamed: bool) -> Conversation {
        let forbids_calls = request.tool_choice() == Some(&ToolChoice::None);
        Conversation {
            request,
            manner: Manner {
                is_streamed,
                forbids_calls: false,
            },
            // Only then may a request that forbids calls be sent without saying so.
            may_get_unwanted_calls: forbids_calls && self.connection.options.cache.is_some(),
            text: String::new(),
            reasoning: String::new(),
            usage: None,
            pauses: 0,
        }
    }

    async fn reply(&self, conversation: &Conversation) -> Result<ChatResponse, LlmError> {
        let request = &conversation.request;
        let (sent, response) = self.send(request, conversation.manner).await?;
        let Exchange { secrets, .. } = self.exchange();

        let decode = |value: &Value, body: &[u8]| {
            let mut decoded = (sent.api.decode)(value, body, secrets)?;
            let mut ids = CallIds::of(request);
            decoded.response = ids.whole(decoded.response)?;
            self.finished(request, &sent, decoded, &ids)
        };
        let wanted = sent.api.reply;
        let exchange = self.exchange();
        exchange.read(response, &sent.origin, wanted, decode).await
    }

    pub(crate) async fn stream(&self, request: ChatRequest) -> Result<ReplyStream, LlmError> {
        let conversation = self.conversation(request, true);
        let sent = self.send(&conversation.request, conversation.manner);
        let sent = sent.await?;

        Ok(stream::reply(self.clone(), conversation, sent))
    }

    /// Sends a request. What the server refuses is changed, once each, and remembered if the server
    /// then accepts the request.
    pub(super) async fn send(
        &self,
        request: &ChatRequest,
        manner: Manner,
    ) -> Result<(Sent, Response), LlmError> {
        check(request)?;
        let mut adjustments = self.learned();
        let mut learned = Vec::new();

        loop {
            let api = self.api(&adjustments);
            let encoded = self.encode(api, request, manner, &adjustments)?;
            let opened = self
                .exchange()
                .open(api.endpoint, encoded.body, manner.is_streamed);
            let refusal = match opened.await {
                Ok((response, origin)) => {
                    self.learn(learned);
                    let sent = Sent {
                        api,
                        origin,
                        adjustments: with_api(encoded.adjustments, &adjustments),
                    };
                    return Ok((sent, response));
                }
                Err(refusal) => refusal,
            };

            let (adjustment, is_remembered) = self.next_adjustment(api, refusal, &adjustments)?;
            learned.extend(Some(adjustment.clone()).filter(|_| is_remembered));
            adjustments.push(adjustment);
        }
    }

    /// Returns what to change after a refusal, and whether to remember it, or the error if there is
    /// nothing to change.
    fn next_adjustment(
        &self,
        api: &Api,
        refusal: Refusal,
        made: &[Adjustment],
    ) -> Result<(Adjustment, bool), LlmError> {
        let refused = api
            .refusable
            .iter()
            .filter(|part| self.other_api.is_some() || !part.setting.starts_with('/'))
            .find(|part| refusal.is_about(part.named));
        let Some(refused) = refused else {
            return Err(refusal.error);
        };

        let adjustment = refused.adjustment();
        let is_repeated = made.contains(&adjustment);
        let is_undone = made.iter().any(|made| {
            made.replacement() == Some(refused.setting)
                && refused.replacement == Some(made.setting())
        });
        match (is_repeated, is_undone) {
            (true, _) => {
                let setting = refused.setting;
                let note = format_args!("the server refuses {setting}, even after a change");
                Err(refusal.error.with_note(note))
            }
            // Neither name of the setting is accepted, so it isn't sent at all.
            (false, true) => Ok((Adjustment::omitted(refused.setting), true)),
            (false, false) => Ok((adjustment, refused.is_remembered)),
        }
    }

    /// Returns the API to use: the usual one, unless the server named the other one.
    fn api(&self, adjustments: &[Adjustment]) -> &'static Api {
        let is_named = |api: &&Api| {
            let mut named = adjustments.iter().filter_map(Adjustment::replacement);
            named.any(|name| name == api.endpoint)
        };

        self.other_api.filter(is_named).unwrap_or(self.api)
    }

    fn encode(
        &self,
        api: &Api,
        request: &ChatRequest,
        manner: Manner,
        adjustments: &[Adjustment],
    ) -> Result<Encoded, LlmError> {
        let returns_data = !adjustments.contains(&Adjustment::omitted(PROVIDER_DATA));
        let returned = if returns_data {
            returned(self.owner(api), request)
        } else {
            vec![None; request.messages().len()]
        };

        (api.encode)(&Call {
            model: &self.connection.model,
            request,
            extra: &self.connection.extra,
            stream: manner.is_streamed,
            adjustments,
            returned,
            cache: self.connection.options.cache,
            forbids_calls: manner.forbids_calls,
        })
    }

    /// Returns a response that was read, with what is known about its request.
    pub(super) fn finished(
        &self,
        request: &ChatRequest,
        sent: &Sent,
        decoded: Decoded,
        ids: &CallIds,
    ) -> Result<ChatResponse, LlmError> {
        let response = decoded.response;
        let response = response.with_adjustments(sent.adjustments.iter().cloned());
        let response = match &sent.origin.request_id {
            Some(id) => response.with_request_id(id.as_str()),
            None => response,
        };

        // Data with ids of calls is valid only with the ids of the server.
        let is_valid = !(sent.api.data_has_call_ids && ids.has_made_ids());
        match decoded.data.filter(|_| is_valid) {
            Some(data) => {
                let data = received(self.owner(sent.api), request, data)?;
                Ok(response.with_provider_data(data))
            }
            None => Ok(response),
        }
    }

    fn owner<'a>(&'a self, api: &'a Api) -> [&'a str; 3] {
        [
            api.endpoint,
            self.exchange().base_url.as_str(),
            &self.connection.model,
        ]
    }

    fn learned(&self) -> Vec<Adjustment> {
        let learned = self.learned.lock();
        learned.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn learn(&self, new: Vec<Adjustment>) {
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        for adjustment in new {
            if !learned.contains(&adjustment) {
                learned.push(adjustment);
            }
        }
    }
}

impl fmt::Debug for ChatConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.connection.fmt(f)
    }
}

/// A request and the parts of its reply, which a server may give in several responses.
pub(super) struct Conversation {
    pub(super) request: ChatRequest,
    pub(super) manner: Manner,
    may_get_unwanted_calls: bool,
    text: String,
    reasoning: String,
    usage: Option<Usage>,
    pauses: usize,
}

impl Conversation {
    /// Takes a response. Returns the whole reply, or `None` if the conversation has to be sent again:
    /// the server paused, or the model called a tool although the request forbids it.
    pub(super) fn take(&mut self, response: ChatResponse, has_calls: bool) -> Option<ChatResponse> {
        if let Some(usage) = response.usage() {
            *self.usage.get_or_insert_default() += usage;
        }

        if has_calls && self.hides_calls() {
            self.manner.forbids_calls = true;
            return None;
        }

        let is_paused = *response.finish_reason() == FinishReason::Other(PAUSE.to_owned());
        if is_paused && self.pauses < PAUSES {
            self.pauses += 1;
            self.text.push_str(response.text());
            self.reasoning
                .push_str(response.reasoning().unwrap_or_default());
            self.request.push(response.message());
            return None;
        }

        Some(self.whole(response))
    }

    /// Returns whether calls aren't part of the reply, because the request forbids them.
    pub(super) fn hides_calls(&self) -> bool {
        self.may_get_unwanted_calls && !self.manner.forbids_calls
    }

    fn whole(&mut self, response: ChatResponse) -> ChatResponse {
        let response = match self.usage {
            Some(usage) => response.with_usage(usage),
            None => response,
        };
        if self.pauses == 0 {
            return response;
        }

        // The server wants the data of all parts, or none. This message has only that of the last.
        let text = format!("{}{}", self.text, response.text());
        let last = response.reasoning().unwrap_or_default();
        let reasoning = format!("{}{last}", self.reasoning);
        response.with_text(text).with_reasoning(reasoning)
    }
}

/// Adds the report that another API was used.
fn with_api(mut applied: Vec<Adjustment>, all: &[Adjustment]) -> Vec<Adjustment> {
    let api = all.iter().filter(|known| known.setting().starts_with('/'));
    applied.extend(api.cloned());

    applied
}

/// Checks what is common to all APIs, before anything is sent.
fn check(request: &ChatRequest) -> Result<(), LlmError> {
    // JSON cannot represent these; serde_json would write null, and the server would use its
    // default.
    if let Some(temperature) = request.temperature().filter(|t| !t.is_finite()) {
        return Err(invalid(format!(
            "the temperature is {temperature}; expected a finite number"
        )));
    }

    if let Some(ToolChoice::Tool(wanted)) = tools::choice(request) {
        let names: Vec<_> = request.tools().iter().map(|tool| tool.name()).collect();
        if !names.contains(&wanted.as_str()) {
            let names = names.join(", ");
            return Err(invalid(format!(
                "the tool choice is {wanted:?}; expected a tool of the request: {names}"
            )));
        }
    }

    let mut problems = (0_usize..)
        .zip(request.messages())
        .filter_map(|(place, message)| Some((place, problem(message)?)));
    match problems.next() {
        Some((place, problem)) => Err(invalid(format!("messages[{place}] {problem}"))),
        None => Ok(()),
    }
}

fn problem(message: &Message) -> Option<String> {
    let role = message.role();
    if role == Role::Tool && message.tool_call_id().is_none() {
        let problem = "has no tool call id; expected Message::tool_result or Message::tool_failure";
        return Some(problem.to_owned());
    }

    if role != Role::Assistant && !message.tool_calls().is_empty() {
        return Some(format!(
            "has tool calls in the role {role}; expected them in the role assistant"
        ));
    }

    if matches!(role, Role::System | Role::Assistant) && !message.blocks().is_empty() {
        return Some(format!(
            "has images or files in the role {role}; expected them in the role user"
        ));
    }

    None
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

            /// Returns the capabilities of the protocol. A server or a model that supports fewer refuses the
            /// request with an error of kind `InvalidRequest`.
            fn capabilities(&self) -> crate::Capabilities {
                crate::Capabilities::none()$(.with(crate::Capability::$capability))*
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
