use std::fmt;

use cogwork_flow::engine::CannotWait;
use cogwork_llm::{FinishReason, LlmError};
use cogwork_text::{ErrorText, ReplyExcerpt, counted};
use cogwork_tools::ToolError;
use cogwork_typed::AnswerProblem;
use cogwork_typed::ask::Limit;

use crate::problems::one_line;
use crate::{TemplateError, Visit};

/// An error of a visit of an agent.
///
/// It contains every reply of the visit, what was wrong with it, and the cost. `{}` is one line;
/// `{:#}` adds the details of the client's error, and the last reply of the model, of which at most
/// 1,000 characters are shown.
///
/// ```
/// use cogwork_agents::{Agent, AgentError, FlowState};
/// use cogwork_flow::Flow;
/// use cogwork_llm::ScriptedClient;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = ScriptedClient::new(["I like it.", "As I said."]);
/// let critic = Agent::new("critic", script).with_actions(["accept", "revise"]).with_asks_again(1);
/// let flow = Flow::builder("review")
///     .start("critic")
///     .node("critic", critic)
///     .end("critic", "accept")
///     .end("critic", "revise")
///     .build()?;
///
/// let mut state = FlowState::new("A haiku");
/// let error = flow.run(&mut state).await.unwrap_err();
/// let failed = error.downcast_ref::<AgentError>().ok_or("a different error")?;
/// assert_eq!(failed.visit().tries.len(), 2);
/// assert_eq!(failed.visit().spent.calls, 2);
/// assert!(format!("{error:#}").ends_with("the reply:\nAs I said."));
/// # Ok(())
/// # }
/// ```
pub struct AgentError(Box<Inner>);

struct Inner {
    kind: AgentErrorKind,
    visit: Visit,
}

/// The reason of an [`AgentError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentErrorKind {
    /// The prompt is empty.
    #[error("the prompt is empty; expected a text")]
    NothingAsked,
    /// The prompt is too long.
    #[error("{}", ErrorText(.0))]
    Prompt(TemplateError),
    /// The definition of a tool isn't known yet, for example because a server has not been
    /// connected.
    #[error("{}", ErrorText(.0))]
    NotReady(#[source] ToolError),
    /// A call to the model failed. The error of a custom client may contain any text.
    #[error("the call to the model failed: {}", ErrorText(.0))]
    Client(#[source] LlmError),
    /// A limit of the visit was reached.
    #[error("the limit of {0} was reached; expected a higher one in `limits`")]
    Limit(Limit),
    /// Every reply of the model was empty: no text and no tool call.
    #[error(
        "every reply of the model was empty{}; expected a text or a tool call",
        because(reason)
    )]
    Empty {
        /// Why the model stopped.
        reason: FinishReason,
    },
    /// The model still called tools after the maximum number of rounds.
    #[error(
        "the model still calls tools after {}; expected an answer",
        counted(rounds, "round")
    )]
    TooManyToolCalls {
        /// The limit.
        rounds: u32,
    },
    /// A tool call needs a person's approval, and the run cannot wait for it.
    #[error("a tool call needs a person's approval: {0}")]
    CannotWait(#[source] CannotWait),
    /// No reply of the model could be read as a value of the output type.
    #[error("no reply of the model could be read: {}", one_line(.0))]
    Unreadable(#[source] AnswerProblem),
    /// No reply of the model named an action.
    #[error("no reply of the model named an action; expected a last line `ACTION: <label>` with one of {}", one_line(.labels))]
    NoAction {
        /// The labels to choose from.
        labels: String,
    },
}

/// Says why a reply is empty, if the reason to stop does.
pub(super) fn because(reason: &FinishReason) -> &'static str {
    match reason {
        // The thinking may have taken all tokens.
        FinishReason::Length => " because of the limit of tokens",
        FinishReason::ContentFilter => " because of a filter",
        _ => "",
    }
}

impl AgentError {
    pub(super) fn new(kind: AgentErrorKind, visit: Visit) -> Self {
        Self(Box::new(Inner { kind, visit }))
    }

    /// Returns the reason.
    pub fn kind(&self) -> &AgentErrorKind {
        &self.0.kind
    }

    /// Returns the visit, with every reply, the tool calls and the cost.
    pub fn visit(&self) -> &Visit {
        &self.0.visit
    }
}

impl From<AgentErrorKind> for AgentError {
    /// Creates the error of a visit without calls to the model.
    fn from(kind: AgentErrorKind) -> Self {
        // The question failed before an attempt, so there is nothing to report of a visit.
        Self::new(kind, Visit::default())
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.kind.fmt(f)?;

        match self.visit().tries.last() {
            // A reply that only calls tools has no text to show.
            Some(last) if f.alternate() && !last.reply.trim().is_empty() => {
                ReplyExcerpt(&last.reply).fmt(f)
            }
            _ => Ok(()),
        }
    }
}

cogwork_text::debug_as_display!(AgentError);

impl std::error::Error for AgentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind().source()
    }
}
