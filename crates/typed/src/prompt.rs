use cogwork_llm::{Message, Messages};

/// What a model is asked: a text, a message with files, or a conversation.
#[derive(Debug, Clone, Default)]
pub struct Prompt(pub(crate) Messages);

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
