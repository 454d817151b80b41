use std::fmt;

use cogwork_llm::LlmError;
use cogwork_text::ErrorText;

use crate::FillError;
use crate::quote::one_line;

/// An error of a visit of an agent.
///
/// `{}` is one line; `{:#}` adds the details of the client's error.
#[non_exhaustive]
pub enum AgentError {
    /// The prompt is empty.
    NothingAsked,
    /// The prompt is too long.
    Prompt(FillError),
    /// A call to the model failed.
    Client(LlmError),
    /// Every reply of the model was empty: no text and no tool call.
    Empty,
    /// The model still called tools after the maximum number of rounds.
    TooManyToolCalls {
        /// The limit.
        rounds: u32,
    },
    /// No reply of the model named an action.
    NoAction {
        /// The labels to choose from.
        labels: String,
    },
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingAsked => f.write_str("the prompt is empty; expected a text"),
            Self::Prompt(error) => ErrorText(error).fmt(f),
            // The error of a custom client may contain any text.
            Self::Client(error) => {
                f.write_str("the call to the model failed: ")?;
                ErrorText(error).fmt(f)
            }
            Self::Empty => {
                f.write_str("every reply of the model was empty; expected a text or a tool call")
            }
            Self::TooManyToolCalls { rounds } => {
                let plural = if *rounds == 1 { "" } else { "s" };
                write!(
                    f,
                    "the model still calls tools after {rounds} round{plural}; expected an answer"
                )
            }
            Self::NoAction { labels } => write!(
                f,
                "no reply of the model named an action; expected a last line `ACTION: <label>` with one of {}",
                one_line(labels)
            ),
        }
    }
}

impl fmt::Debug for AgentError {
    /// Writes `{:#}`, because this is printed if `main` returns the error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl std::error::Error for AgentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Client(error) => Some(error),
            _ => None,
        }
    }
}
