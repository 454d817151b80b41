//! The settings of clients that call a server over HTTP.

// The clients without their formats: settings, the exchange, failures, streams and redaction. Each
// client fills in a `Protocol`, a table of what differs, and the format of its API.

mod address;
mod chat;
mod exchange;
mod failure;
mod secrets;
mod settings;
mod sse;
mod stream;

#[doc(hidden)]
pub use address::http_client;
pub use settings::HttpClientBuilder;

pub use crate::anthropic::AnthropicClientBuilder;
pub use crate::ollama::OllamaClientBuilder;
pub use crate::openai::{OpenAiApi, OpenAiClientBuilder};

pub(crate) use chat::{ChatConnection, client};
pub(crate) use settings::Connection;

use reqwest::header::HeaderMap;

use crate::{LlmError, LlmErrorKind};

/// The server of a client, and how it is addressed.
pub(crate) struct Protocol {
    /// The name of the client's type.
    pub(crate) client: &'static str,
    /// The first part of the path, which a base URL may already include.
    pub(crate) prefix: &'static str,
    /// A valid base URL, for error messages.
    pub(crate) example: &'static str,
    /// The usual end of a base URL, as the end of a sentence.
    pub(crate) hint: &'static str,
    /// Fields that `extra` must not set.
    pub(crate) reserved: &'static [&'static str],
    /// The header of the API key, and the prefix of its value.
    pub(crate) key: (&'static str, &'static str),
    /// Headers of every request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
}

impl Protocol {
    /// Returns the path of an endpoint after the base URL.
    fn path(&self, endpoint: &str) -> String {
        format!("{}{endpoint}", self.prefix)
    }

    /// Returns `base`, a base URL or its path, with the path of an endpoint appended.
    fn path_after(&self, base: &str, endpoint: &str) -> String {
        let base = base.strip_suffix(self.prefix).unwrap_or(base);
        format!("{base}{}", self.path(endpoint))
    }
}

/// Returns an error for a client that cannot be built.
fn invalid_settings(message: impl Into<String>) -> LlmError {
    LlmError::new(LlmErrorKind::Settings, message)
}

fn header_text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}
