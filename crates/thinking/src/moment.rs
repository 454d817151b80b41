use std::sync::Arc;

use cogwork_llm::{
    ChatRequest, ChatResponse, FinishReason, LlmClient, Message, Messages, Role, ToolCall,
    ToolChoice,
};
use serde_json::Map;

use crate::ledger::{Ledger, Metered};
use crate::memory::recalled;
use crate::{Found, Hook, ModeLimits, OnFailure, Payload, ThinkingError};

/// What a hook knows and can do: the conversation, the role, the memory found, and calls to a model that
/// are counted.
///
/// ```
/// use cogwork_thinking::{Moment, Payload, ThinkingError, ThinkingMode, HookOutcome, async_trait};
///
/// /// Has the draft translated.
/// struct InEnglish;
///
/// #[async_trait]
/// impl ThinkingMode for InEnglish {
///     async fn after(&self, moment: &Moment<'_>, draft: &Payload) -> Result<HookOutcome, ThinkingError> {
///         let messages = moment.conversation(draft, "Say this in English, and nothing else.");
///         Ok(HookOutcome::replace_text(moment.ask(moment.answering(messages)).await?.into_text()))
///     }
/// }
/// ```
pub struct Moment<'a> {
    pub(crate) client: Metered<'a>,
    pub(crate) request: &'a ChatRequest,
    pub(crate) input: &'a Payload,
    pub(crate) memory: &'a [Found],
    pub(crate) memory_is_in_request: bool,
    pub(crate) hook: Hook,
    pub(crate) mode: &'a str,
    pub(crate) on_failure: OnFailure,
    pub(crate) limits: ModeLimits,
}

impl Moment<'_> {
    /// The client around which the thinking is. Its calls are counted and limited; no hook is called on
    /// them, so a mode cannot meet itself.
    pub fn client(&self) -> &dyn LlmClient {
        &self.client
    }

    /// Another client, with its calls counted and limited in the same way. Not for
    /// [`client`](Self::client), whose calls would be counted twice.
    pub fn counted<'b>(&'b self, client: &'b dyn LlmClient) -> impl LlmClient + 'b {
        Metered {
            client,
            ledger: self.client.ledger.clone(),
            by_hook: true,
        }
    }

    /// What is asked of the model: before a generation as it would be sent, after it as the draft
    /// answers it.
    pub fn request(&self) -> &ChatRequest {
        self.request
    }

    /// The first system text of the conversation; empty if there is none.
    pub fn role(&self) -> &str {
        let system = self
            .request
            .messages()
            .iter()
            .find(|message| message.role() == Role::System);
        system.map_or("", Message::text)
    }

    /// What the program asks, in its own words: the last message of the user, before any hook changed it.
    pub fn input(&self) -> &Payload {
        self.input
    }

    /// What was found in the memory, best first. Empty if there is none, or it is not
    /// [read at this stage](crate::Recall::with_stages).
    pub fn memory(&self) -> &[Found] {
        self.memory
    }

    /// The conversation with `prompt` at its end: before a generation behind the payload in the same
    /// message of the user, after it as the user's answer to the draft, if there is anything of one. What was found in the memory goes
    /// with the prompt, unless it is in the conversation already.
    ///
    /// A draft's calls of tools are told in its text: as calls they would have to be answered.
    pub fn conversation(&self, payload: &Payload, prompt: &str) -> Messages {
        let prompt = match recalled(self.memory) {
            Some(found) if !self.memory_is_in_request => format!("{found}\n\n{prompt}"),
            _ => prompt.to_owned(),
        };
        match self.hook {
            Hook::Before => with_input(self.request.messages(), &payload.clone().appended(&prompt)),
            Hook::After => {
                let mut messages = self.request.messages().clone();
                messages.extend(said(payload));
                match messages.last().filter(|last| last.role() == Role::User) {
                    // Without a draft: two messages of the user in a row are refused by some models.
                    Some(last) => with_input(
                        &messages,
                        &Payload::of_message(last, Map::new()).appended(&prompt),
                    ),
                    None => {
                        messages.push(Message::user(prompt));
                        messages
                    }
                }
            }
        }
    }

    /// A request with these messages for an answer that could stand in the draft's place: with all settings of
    /// [`request`](Self::request), but without calls of tools.
    pub fn answering(&self, messages: Messages) -> ChatRequest {
        without_calls(self.request.clone().with_messages(messages))
    }

    /// A request with these messages for something else than the answer, such as a judgement: free text,
    /// with the limit of tokens, the temperature and the seed of [`request`](Self::request).
    pub fn aside(&self, messages: Messages) -> ChatRequest {
        // The tools are told though none is to be called: some servers refuse a conversation with calls of
        // tools that they do not know, and all keep what they have cached of it.
        let mut request =
            ChatRequest::from(messages).with_tools(self.request.tools().iter().cloned());
        if let Some(tokens) = self.request.max_tokens() {
            request = request.with_max_tokens(tokens);
        }

        if let Some(temperature) = self.request.temperature() {
            request = request.with_temperature(temperature);
        }

        if let Some(seed) = self.request.seed() {
            request = request.with_seed(seed);
        }

        without_calls(request)
    }

    /// Asks the client for a text that can be used: not empty, not cut off, not too long.
    ///
    /// # Errors
    ///
    /// That of the call, or what is wrong with the answer. With [`OnFailure::TryAgain`] it is the one of a
    /// second call.
    pub async fn ask(&self, request: ChatRequest) -> Result<ChatResponse, ThinkingError> {
        self.ask_of(self.client.client, request).await
    }

    /// The same, asked of another client than [`client`](Self::client).
    ///
    /// # Errors
    ///
    /// As of [`ask`](Self::ask).
    pub async fn ask_of(
        &self,
        client: &dyn LlmClient,
        request: ChatRequest,
    ) -> Result<ChatResponse, ThinkingError> {
        let client = self.counted(client);
        if self.on_failure == OnFailure::TryAgain {
            match self.usable(client.complete(request.clone()).await) {
                Ok(response) => return Ok(response),
                Err(error) => self.report(&error),
            }
        }

        self.usable(client.complete(request).await)
    }

    fn usable(
        &self,
        outcome: Result<ChatResponse, cogwork_llm::LlmError>,
    ) -> Result<ChatResponse, ThinkingError> {
        let response = outcome?.separate_thinking();
        let bytes = response.text().len();
        let most = self.limits.answer_bytes;
        match response.finish_reason() {
            FinishReason::ContentFilter => Err(ThinkingError::Withheld),
            FinishReason::Length => Err(ThinkingError::CutOff { bytes }),
            _ if bytes > most => Err(ThinkingError::TooLong { bytes, most }),
            _ if response.text().trim().is_empty() => Err(ThinkingError::Empty),
            _ => Ok(response),
        }
    }

    /// Adds a text to the drafts of the [report](crate::Report).
    pub fn draft(&self, text: impl Into<Arc<str>>) {
        self.ledger().add_draft(Some(self.mode), text.into());
    }

    /// Says that this payload is better than the one before it: it holds if the hook fails from here on.
    /// Its text is added to the drafts.
    pub fn stand(&self, payload: &Payload) {
        self.draft(payload.shared_text());
        self.ledger().entries().standing = Some(payload.clone());
    }

    /// Adds a failure to the [report](crate::Report) that does not end the hook.
    pub fn report(&self, problem: &ThinkingError) {
        self.ledger().entries().problems.push(problem.to_string());
    }

    fn ledger(&self) -> &Ledger {
        &self.client.ledger
    }
}

/// The draft as the assistant's message, if there is anything of it.
pub(crate) fn said(draft: &Payload) -> Option<Message> {
    let calls = draft
        .tool_calls()
        .iter()
        .map(|call: &ToolCall| format!("[call of the tool {}: {}]", call.name(), call.arguments()));
    let text = Some(draft.text().to_owned()).filter(|text| !text.is_empty());
    let whole = text.into_iter().chain(calls).collect::<Vec<_>>().join("\n");

    // Without its blocks: a hook has added them for the program, and servers take none from a model.
    (!whole.is_empty()).then(|| Message::assistant(whole))
}

/// The conversation with its last message of the user replaced by this input.
pub(crate) fn with_input(messages: &Messages, input: &Payload) -> Messages {
    let last = messages
        .iter()
        .rposition(|message| message.role() == Role::User);
    let replaced = |(index, message): (usize, &Message)| match Some(index) == last {
        true => Message::user(input.shared_text()).with_blocks(input.blocks().iter().cloned()),
        false => message.clone(),
    };
    messages.iter().enumerate().map(replaced).collect()
}

/// The request with its tools still told, for the calls that are in the conversation, but not to be called.
pub(crate) fn without_calls(request: ChatRequest) -> ChatRequest {
    if request.tools().is_empty() {
        request
    } else {
        request.with_tool_choice(ToolChoice::None)
    }
}
