use cogwork_llm::{Message, Messages, Role};

/// What a model is asked: a text, a message with files, or a conversation.
#[derive(Debug, Clone, Default)]
pub struct Prompt(pub(crate) Messages);

impl Prompt {
    /// Returns the messages.
    pub fn into_messages(self) -> Messages {
        self.0
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::from(Message::user(text))
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::from(Message::user(text))
    }
}

impl From<&String> for Prompt {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Message> for Prompt {
    fn from(message: Message) -> Self {
        Self([message].into_iter().collect())
    }
}

impl From<Messages> for Prompt {
    fn from(messages: Messages) -> Self {
        Self(messages)
    }
}

impl From<Vec<Message>> for Prompt {
    fn from(messages: Vec<Message>) -> Self {
        Self(messages.into_iter().collect())
    }
}

/// Adds an instruction to the end of a conversation. It becomes part of a user message at the end,
/// because some servers refuse two messages with the same role in a row.
pub(crate) fn with_instruction(messages: &Messages, instruction: &str) -> Messages {
    let mut messages = messages.clone();
    let last = messages.last().filter(|last| last.role() == Role::User);

    let message = match last.cloned() {
        Some(last) => {
            messages.pop();
            let text = format!("{}\n\n{instruction}", last.text());
            Message::user(text.trim_start()).with_blocks(last.blocks().to_vec())
        }
        None => Message::user(instruction),
    };
    messages.push(message);
    messages
}
