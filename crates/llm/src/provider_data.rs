use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What a server sent with a message and wants back in later requests, exactly as it was received:
/// signed thinking of Claude, thought signatures of Gemini, reasoning items of OpenAI, the
/// `reasoning_content` of DeepSeek, and whatever else comes next.
///
/// Only the client that received it reads it. It is part of saved states and journals, so that a
/// resumed run continues the same conversation, and it is never shown: `Debug` shows only its size.
///
/// The clients of this crate return it to the same API, server and model, and only while the tools
/// and everything before the message are unchanged. Otherwise the message is sent without it, which
/// every server accepts as the message of another model. A client of your own can keep its data in
/// the same way:
///
/// ```
/// use cogwork_llm::ChatResponse;
/// use cogwork_llm::backend::ProviderData;
///
/// let data = ProviderData::new(7, r#"{"signature":"EqQB"}"#);
/// let response = ChatResponse::new("It rains.").with_provider_data(data);
/// assert_eq!(response.message().provider_data(), response.provider_data());
/// assert_eq!(format!("{:?}", response.provider_data()), "Some(ProviderData(20 bytes))");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProviderData {
    fingerprint: u64,
    content: Arc<str>,
}

impl ProviderData {
    /// The maximum size of the content in the clients of this crate, in bytes: 4 MiB.
    pub const MAX_BYTES: usize = 4 * 1024 * 1024;

    /// Creates data from a fingerprint and a content.
    ///
    /// The fingerprint tells the client whether a later request still begins with the conversation
    /// that the content belongs to. It must be the same in every process.
    pub fn new(fingerprint: u64, content: impl Into<Arc<str>>) -> Self {
        Self {
            fingerprint,
            content: content.into(),
        }
    }

    /// Returns the fingerprint of the conversation before the message.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns the content, which only the client that received it can interpret.
    pub fn content(&self) -> &str {
        &self.content
    }
}

impl fmt::Debug for ProviderData {
    /// Shows only the size: the content is encrypted, or thinking that isn't meant to be shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProviderData({} bytes)", self.content.len())
    }
}
