use std::sync::Arc;

use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, LlmClient, Message, Messages, Role, ToolChoice,
};
use serde_json::{Map, Value};

use crate::hook_client::HookClient;
use crate::memory::{Found, recalled};
use crate::{Candidate, Hook, Report, ThinkingError};

/// What a hook works on: the user's message before a generation, the model's draft after it. It
/// also has what a hook needs to think about it: the conversation, the role, the search result of
/// the memory, and a client whose calls are counted.
///
/// A change is in effect at once, and remains if the hook fails later.
///
/// ```
/// use cogwork_thinking::{Draft, ThinkingError, ThinkingMode, async_trait};
///
/// /// Has the draft translated.
/// struct InEnglish;
///
/// #[async_trait]
/// impl ThinkingMode for InEnglish {
///     async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
///         draft.try_again("Say this in English, and nothing else.").await
///     }
/// }
/// ```
pub struct Draft {
    pub(crate) content: Content,
    pub(crate) client: HookClient,
    pub(crate) request: ChatRequest,
    /// The user's last message as the program wrote it.
    pub(crate) input: Message,
    /// The hook that is called.
    pub(crate) hook: Hook,
    /// The mode whose hook is called; `None` before the first one.
    pub(crate) mode: Option<String>,
    /// The failures that didn't end the hook.
    pub(crate) problems: Vec<String>,
    pub(crate) report: Report,
}

/// What hooks can change.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Content {
    pub(crate) text: Arc<str>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) metadata: Map<String, Value>,
}

impl Draft {
    /// Creates what the hooks before a generation work on.
    pub(crate) fn new(client: HookClient, request: ChatRequest) -> Self {
        let mut messages = request.messages().iter();
        // The last one of the user, also if results of tools follow it.
        let last = messages.rfind(|message| message.role() == Role::User);
        let input = last.cloned().unwrap_or_else(|| Message::user(""));

        Self {
            content: Content {
                text: input.text().into(),
                blocks: input.blocks().to_vec(),
                metadata: Map::new(),
            },
            client,
            request,
            input,
            hook: Hook::Before,
            mode: None,
            problems: Vec::new(),
            report: Report::default(),
        }
    }

    /// Writes the user's message into the request, with what was found in the memory behind it.
    pub(crate) fn write_input(&mut self) {
        let text = match recalled(self.memory()) {
            Some(found) => joined(self.text(), &found).into(),
            None => Arc::clone(&self.content.text),
        };
        let messages = with_input(self.request.messages(), text, self.blocks());
        self.request = self.request.clone().with_messages(messages);
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.content.text
    }

    /// Replaces the text. After a generation, the new text is also added to the drafts of the
    /// [report](crate::Report).
    pub fn set_text(&mut self, text: impl Into<Arc<str>>) {
        self.content.text = text.into();

        match self.hook {
            // The text is the user's, and never an answer.
            Hook::Before => self.write_input(),
            Hook::After => self.consider(Arc::clone(&self.content.text)),
        }
    }

    /// Appends `text` after an empty line.
    pub fn append(&mut self, text: &str) {
        self.set_text(joined(self.text(), text));
    }

    /// Returns the images and files: of the user's message, or those that a hook has added to the
    /// draft.
    pub fn blocks(&self) -> &[Block] {
        &self.content.blocks
    }

    /// Replaces the images and files.
    pub fn set_blocks(&mut self, blocks: impl IntoIterator<Item = Block>) {
        self.content.blocks = blocks.into_iter().collect();
        if self.hook == Hook::Before {
            self.write_input();
        }
    }

    /// Returns the metadata that hooks pass to each other and to the program, starting with the
    /// hooks before the generation. It is never sent to a model.
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.content.metadata
    }

    /// Sets a metadata value.
    pub fn set_metadata(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.content.metadata.insert(key.into(), value.into());
    }

    /// Adds a text to the drafts of the [report](crate::Report), if it isn't one of them.
    pub fn consider(&mut self, text: impl Into<Arc<str>>) {
        let text = text.into();
        let drafts = &mut self.report.drafts;

        // Modes that keep a draft would repeat it otherwise.
        if drafts.iter().all(|draft| draft.text != text) {
            let mode = self.mode.clone();
            drafts.push(Candidate { mode, text });
        }
    }

    /// Adds a failure that doesn't end the hook to the [report](crate::Report).
    pub fn report(&mut self, problem: &ThinkingError) {
        self.problems.push(problem.to_string());
    }

    /// Returns the user's last message, before any hook changed it.
    pub fn input(&self) -> &Message {
        &self.input
    }

    /// Returns the request. Before a generation, this is the request as it would be sent; after it,
    /// the request that the model replied to.
    pub fn request(&self) -> &ChatRequest {
        &self.request
    }

    /// Returns the first system message of the conversation. Empty if it doesn't have one.
    pub fn role(&self) -> &str {
        // Only the first: later ones are instructions that the program has added on the way.
        let mut messages = self.request.messages().iter();
        let system = messages.find(|message| message.role() == Role::System);
        system.map_or("", Message::text)
    }

    /// Returns the search result of the memory, best first. Empty if the client doesn't have a
    /// memory.
    pub fn memory(&self) -> &[Found] {
        &self.report.memory
    }

    /// Returns the client inside the [`Thinking`](crate::Thinking). Its calls are
    /// counted, limited and, in a run with a journal, recorded; no hooks are called for them.
    pub fn client(&self) -> &dyn LlmClient {
        &self.client
    }

    /// Returns the conversation with `prompt` at its end. Before a generation, the prompt is
    /// appended to the user's message. After it, the prompt is a user message that follows the
    /// draft; an empty draft is left out.
    pub fn conversation(&self, prompt: &str) -> Messages {
        // Some servers refuse an empty message of the assistant.
        if self.hook == Hook::Before || self.text().is_empty() {
            return self.without_draft(prompt);
        }

        let mut messages = self.request.messages().clone();
        messages.push(Message::assistant(self.text()));
        messages.push(Message::user(prompt));
        messages
    }

    /// Returns the conversation without the draft, and with `prompt` at its end.
    pub fn without_draft(&self, prompt: &str) -> Messages {
        let mut messages = self.request.messages().clone();
        messages.add(Message::user(prompt));
        messages
    }

    /// Creates a request for an answer that could replace the draft: with all settings of
    /// [`request`](Self::request), but without tool calls.
    pub fn answering(&self, messages: Messages) -> ChatRequest {
        without_calls(self.request.clone().with_messages(messages))
    }

    /// Creates a request for something other than the answer, such as a judgement: free text, with
    /// the token limit, the temperature, the effort and the seed of [`request`](Self::request).
    pub fn aside(&self, messages: Messages) -> ChatRequest {
        let request = self.request.clone().with_messages(messages);
        let free = request.without_format().with_stop::<String>([]);

        // Keeps the tools although none should be called: some servers refuse a conversation with
        // calls of unknown tools, and all of them can reuse their cache.
        without_calls(free)
    }

    /// Replaces the draft by a further one. The current draft and `message` are appended to the
    /// conversation, and remain there.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ask`](Self::ask), or an error if there is no draft yet.
    pub async fn try_again(&mut self, message: &str) -> Result<(), ThinkingError> {
        if self.hook == Hook::Before {
            let problem = "it requested a further draft before there was one";
            return Err(ThinkingError::new(problem));
        }

        // The conversation grows with each further draft, so that the model sees all of them.
        let request = self.answering(self.conversation(message));
        let further = self.ask(request.clone()).await?;
        self.set_text(further.into_text());
        self.request = request;
        Ok(())
    }

    /// Calls the client, and returns an error if the text of the reply is empty or truncated.
    ///
    /// # Errors
    ///
    /// Returns the error of the call, or the reason the reply is unusable.
    pub async fn ask(&self, request: ChatRequest) -> Result<ChatResponse, ThinkingError> {
        // What a model thinks aloud isn't part of what it answers.
        let response = self.client.complete(request).await?.separate_thinking();

        let bytes = response.text().len();
        Err(ThinkingError::new(match response.finish_reason() {
            FinishReason::ContentFilter => "a filter withheld the reply".to_owned(),
            FinishReason::Length => format!("the reply was truncated after {bytes} bytes"),
            _ if response.text().trim().is_empty() => "the model's reply is empty".to_owned(),
            _ => return Ok(response),
        }))
    }
}

/// Joins two texts with an empty line.
fn joined(first: &str, second: &str) -> String {
    match first.is_empty() {
        true => second.to_owned(),
        false => format!("{first}\n\n{second}"),
    }
}

/// Returns the conversation with a different last user message.
fn with_input(messages: &Messages, text: impl Into<Arc<str>>, blocks: &[Block]) -> Messages {
    let input = Message::user(text).with_blocks(blocks.iter().cloned());
    let last = messages
        .iter()
        .rposition(|message| message.role() == Role::User);

    let mut replaced: Vec<_> = messages.iter().cloned().collect();
    if let Some(message) = last.and_then(|last| replaced.get_mut(last)) {
        *message = input;
    }
    replaced.into_iter().collect()
}

/// Keeps the tools for the calls that are in the conversation, but prevents new calls.
fn without_calls(request: ChatRequest) -> ChatRequest {
    if request.tools().is_empty() {
        request
    } else {
        request.with_tool_choice(ToolChoice::None)
    }
}
