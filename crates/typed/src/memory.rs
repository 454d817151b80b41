use cogwork_llm::{ChatRequest, Message, Role};
use serde::{Deserialize, Serialize};

/// A conversation of bounded length, to be kept in the state of a flow.
///
/// When it becomes too long, the oldest exchanges are left out of requests and dropped. An exchange
/// begins with a message of the user and contains all replies and tool results up to the next one,
/// so a tool call is never separated from its result. The last exchange always stays.
///
/// The system message isn't part of it; see [`Model::with_system`](crate::Model::with_system).
///
/// ```
/// use cogwork_llm::Message;
/// use cogwork_typed::ChatMemory;
///
/// let mut memory = ChatMemory::new().with_max_messages(4);
/// for number in 1..=3 {
///     memory.push(Message::user(format!("question {number}")));
///     memory.push(Message::assistant(format!("answer {number}")));
/// }
///
/// let texts: Vec<&str> = memory.messages().iter().map(Message::text).collect();
/// assert_eq!(texts, ["question 2", "answer 2", "question 3", "answer 3"]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatMemory {
    messages: Vec<Message>,
    max_messages: usize,
    max_tokens: u64,
}

impl Default for ChatMemory {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            max_messages: 100,
            max_tokens: 16_000,
        }
    }
}

impl ChatMemory {
    /// Creates an empty memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of messages. The default is 100.
    #[must_use]
    pub fn with_max_messages(mut self, messages: usize) -> Self {
        self.max_messages = messages;
        self.forget();
        self
    }

    /// Sets the maximum number of tokens, [estimated](ChatRequest::estimated_tokens) from the
    /// length of the texts. The default is 16,000.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = tokens;
        self.forget();
        self
    }

    /// Adds a message, and drops the oldest exchanges if the conversation is too long.
    pub fn push(&mut self, message: Message) {
        self.extend([message]);
    }

    /// Adds messages, and drops the oldest exchanges if the conversation is too long.
    pub fn extend(&mut self, messages: impl IntoIterator<Item = Message>) {
        self.messages.extend(messages);
        self.forget();
    }

    /// Returns the messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn forget(&mut self) {
        while self.is_too_long() {
            // The first message begins the oldest exchange, which ends before the next one of the
            // user.
            let mut later = self.messages.iter().skip(1);
            let Some(before) = later.position(|message| message.role() == Role::User) else {
                return;
            };

            self.messages.drain(..=before);
        }
    }

    fn is_too_long(&self) -> bool {
        let request = ChatRequest::new(self.messages.iter().cloned());
        self.messages.len() > self.max_messages || request.estimated_tokens() > self.max_tokens
    }
}
