use std::fmt;

use crate::{ChatResponse, LlmError, LlmErrorKind, ToolCall};

/// Limits on the size of a response from any client: 64 tool calls with 256 KiB, and 16 MiB of text
/// and reasoning.
///
/// The clients of this crate limit what they read from a server, but a custom client may return
/// anything. Check a response before acting on it: every tool call is executed, answered and sent
/// back.
///
/// ```
/// use cogwork_llm::backend::ResponseLimits;
/// use cogwork_llm::{ChatResponse, ToolCall};
///
/// let calls = (0..100).map(|number| ToolCall::new(format!("call{number}"), "search", "{}"));
/// let response = ChatResponse::new("").with_tool_calls(calls);
///
/// let error = ResponseLimits::default().check(&response).unwrap_err();
/// assert_eq!(error.to_string(), "the reply has 100 tool calls; expected at most 64");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResponseLimits(());

const TOOL_CALLS: usize = 64;
/// The maximum number of bytes of the ids, names and arguments of all tool calls.
const TOOL_CALL_BYTES: usize = 256 * 1024;
/// The maximum number of bytes of text and reasoning.
const TEXT_BYTES: usize = 16 * 1024 * 1024;

impl ResponseLimits {
    /// Checks a response against the limits.
    ///
    /// # Errors
    ///
    /// Returns the first limit that the response exceeds.
    pub fn check(&self, response: &ChatResponse) -> Result<(), ResponseTooLarge> {
        let reasoning = response.reasoning().map_or(0, str::len);
        self.check_text(response.text().len().saturating_add(reasoning))?;

        let calls = response.tool_calls();
        check("the reply has", calls.len(), "tool calls", TOOL_CALLS)?;

        let sizes = calls.iter().map(ToolCall::bytes);
        let bytes = sizes.fold(0, usize::saturating_add);
        check("the tool calls have", bytes, "bytes", TOOL_CALL_BYTES)
    }

    /// Checks the number of bytes of text and reasoning received so far.
    ///
    /// # Errors
    ///
    /// Returns an error if there are more than 16 MiB.
    pub fn check_text(&self, bytes: usize) -> Result<(), ResponseTooLarge> {
        check("the reply has", bytes, "bytes", TEXT_BYTES)
    }
}

fn check(what: &str, count: usize, unit: &str, max: usize) -> Result<(), ResponseTooLarge> {
    if count > max {
        let message = format!("{what} {count} {unit}; expected at most {max}");
        return Err(ResponseTooLarge(message));
    }

    Ok(())
}

/// A response exceeds a limit.
#[derive(Clone, PartialEq, Eq)]
pub struct ResponseTooLarge(String);

cogwork_text::debug_as_display!(ResponseTooLarge);

impl fmt::Display for ResponseTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ResponseTooLarge {}

impl From<ResponseTooLarge> for LlmError {
    fn from(error: ResponseTooLarge) -> Self {
        Self::new(LlmErrorKind::Decode, error.0)
    }
}
