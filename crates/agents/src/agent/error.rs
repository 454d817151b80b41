use std::fmt;

use cogwork_llm::LlmError;
use cogwork_text::ErrorText;

use crate::FillError;
use crate::quote::one_line;

/// Why a visit of an agent brought no answer.
///
/// `{}` is one line; `{:#}` adds what the client's error adds.
#[non_exhaustive]
pub enum AgentError {
    /// What it is asked is empty.
    NothingAsked,
    /// What it is asked is too long.
    Prompt(FillError),
    /// A call to the model failed.
    Client(LlmError),
    /// Every reply of the model was empty: no text and no tool call.
    Empty,
    /// The model still calls tools after so many rounds.
    TooManyToolCalls {
        /// The limit.
        rounds: u32,
    },
    /// No reply of the model named an action.
    NoAction {
        /// The labels it could choose from, as it was told.
        labels: String,
    },
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingAsked => {
                f.write_str("there is nothing to ask: the prompt is empty; expected a text")
            }
            Self::Prompt(error) => ErrorText(error).fmt(f),
            // A custom client may put anything into its errors.
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
    /// The sentence: what a program shows that returns the error from `main`.
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
