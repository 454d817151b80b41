use std::sync::Arc;

use cogwork_llm::{
    ChatRequest, ChatResponse, FinishReason, LlmClient, Message, Messages, Role, ToolCall,
    ToolChoice,
};

use crate::ledger::{Ledger, Metered};
use crate::memory::recalled;
use crate::{Found, Hook, OnFailure, Payload, ThinkingError};

/// The maximum size of a reply to a hook, in bytes.
const MOST_BYTES: usize = 1024 * 1024;

/// The context of a hook: the conversation, the role, the search result of the memory, and a client
/// whose calls are counted.
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
}

impl Moment<'_> {
    /// Returns the client inside the [`Thinking`](crate::Thinking). Its calls are counted and
    /// limited, and no hooks are called for them.
    pub fn client(&self) -> &dyn LlmClient {
        &self.client
    }

    /// Wraps a different client so that its calls are counted and limited as well. Don't pass
    /// [`client`](Self::client), whose calls would be counted twice.
    pub fn counted<'b>(&'b self, client: &'b dyn LlmClient) -> impl LlmClient + 'b {
        Metered {
            client,
            ledger: self.client.ledger.clone(),
            by_hook: true,
        }
    }

    /// Returns the request. Before a generation, this is the request as it would be sent; after it,
    /// the request that the draft is the reply to.
    pub fn request(&self) -> &ChatRequest {
        self.request
    }

    /// Returns the first system message of the conversation. Empty if it doesn't have one.
    pub fn role(&self) -> &str {
        let system = self
            .request
            .messages()
            .iter()
            .find(|message| message.role() == Role::System);
        system.map_or("", Message::text)
    }

    /// Returns the user's last message, before any hook changed it.
    pub fn input(&self) -> &Payload {
        self.input
    }

    /// Returns the search result of the memory, best first. Empty if the client doesn't have a
    /// memory, or if the memory isn't [read at this stage](crate::Recall::with_stages).
    pub fn memory(&self) -> &[Found] {
        self.memory
    }

    /// Returns the conversation with `prompt` at its end. Before a generation, the prompt is
    /// appended to the payload, in the same user message. After it, the prompt is a user message
    /// that follows the draft; an empty draft is left out. The search result of the memory precedes
    /// the prompt, unless the conversation already contains it.
    ///
    /// Tool calls of a draft are included as text, because calls would have to be answered.
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
                    // Some models refuse two user messages in a row.
                    Some(last) => {
                        with_input(&messages, &Payload::of_message(last).appended(&prompt))
                    }
                    None => {
                        messages.push(Message::user(prompt));
                        messages
                    }
                }
            }
        }
    }

    /// Creates a request for an answer that could replace the draft: with all settings of
    /// [`request`](Self::request), but without tool calls.
    pub fn answering(&self, messages: Messages) -> ChatRequest {
        without_calls(self.request.clone().with_messages(messages))
    }

    /// Creates a request for something other than the answer, such as a judgement: free text, with
    /// the token limit, the temperature, the effort and the seed of [`request`](Self::request).
    pub fn aside(&self, messages: Messages) -> ChatRequest {
        // Includes the tools although none should be called: some servers refuse a conversation
        // with calls of unknown tools, and all of them can reuse their cache.
        let mut request =
            ChatRequest::from(messages).with_tools(self.request.tools().iter().cloned());
        if let Some(tokens) = self.request.max_tokens() {
            request = request.with_max_tokens(tokens);
        }

        if let Some(temperature) = self.request.temperature() {
            request = request.with_temperature(temperature);
        }

        if let Some(effort) = self.request.effort() {
            request = request.with_effort(effort);
        }

        if let Some(seed) = self.request.seed() {
            request = request.with_seed(seed);
        }

        without_calls(request)
    }

    /// Calls the client, and returns an error if the text of the reply is empty, truncated or too
    /// long.
    ///
    /// # Errors
    ///
    /// Returns the error of the call, or the reason the reply is unusable. With
    /// [`OnFailure::TryAgain`], this is the error of the second call.
    pub async fn ask(&self, request: ChatRequest) -> Result<ChatResponse, ThinkingError> {
        self.ask_of(self.client.client, request).await
    }

    /// Calls a client other than [`client`](Self::client) in the same way.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ask`](Self::ask).
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
        match response.finish_reason() {
            FinishReason::ContentFilter => Err(ThinkingError::Withheld),
            FinishReason::Length => Err(ThinkingError::CutOff { bytes }),
            _ if bytes > MOST_BYTES => Err(ThinkingError::TooLong {
                bytes,
                most: MOST_BYTES,
            }),
            _ if response.text().trim().is_empty() => Err(ThinkingError::Empty),
            _ => Ok(response),
        }
    }

    /// Adds a text to the drafts of the [report](crate::Report).
    pub fn draft(&self, text: impl Into<Arc<str>>) {
        self.ledger().add_draft(Some(self.mode), text.into());
    }

    /// Accepts a payload as better than the previous one. If the hook fails later, the payload
    /// remains in effect. Its text is added to the drafts.
    pub fn accept(&self, payload: &Payload) {
        self.draft(payload.shared_text());
        self.ledger().entries().accepted = Some(payload.clone());
    }

    /// Adds a failure that doesn't end the hook to the [report](crate::Report).
    pub fn report(&self, problem: &ThinkingError) {
        self.ledger().entries().problems.push(problem.to_string());
    }

    fn ledger(&self) -> &Ledger {
        &self.client.ledger
    }
}

/// Returns the draft as a message of the assistant, unless it is empty.
pub(crate) fn said(draft: &Payload) -> Option<Message> {
    let calls = draft
        .tool_calls()
        .iter()
        .map(|call: &ToolCall| format!("[call of the tool {}: {}]", call.name(), call.arguments()));
    let text = Some(draft.text().to_owned()).filter(|text| !text.is_empty());
    let whole = text.into_iter().chain(calls).collect::<Vec<_>>().join("\n");

    // Omits the blocks: hooks have added them for the program, and servers don't accept any from a
    // model.
    (!whole.is_empty()).then(|| Message::assistant(whole))
}

/// Replaces the last user message of the conversation.
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

/// Keeps the tools for the calls that are in the conversation, but prevents new calls.
pub(crate) fn without_calls(request: ChatRequest) -> ChatRequest {
    if request.tools().is_empty() {
        request
    } else {
        request.with_tool_choice(ToolChoice::None)
    }
}
