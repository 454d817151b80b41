use std::error::Error;
use std::fmt;

use cogwork_flow::engine::CannotWait;
use cogwork_llm::LlmError;
use cogwork_text::{ErrorText, ReplyExcerpt};
use cogwork_tools::ToolError;
use cogwork_typed::AnswerProblem;
use cogwork_typed::ask::{Limit, Try};

use crate::reply::with_excerpt;
use crate::{PromptsError, Trace};

/// An error of a turn.
///
/// No work is lost: the state is unchanged since the last thought, and the error contains every raw
/// reply of this turn, what was wrong with it, and the cost. `{}` writes one line; `{:#}` adds the
/// place in the last reply, and the start of that reply. The [source](Error::source) of an error of the
/// client is its [`LlmError`], and that of replies that can't be used the [`AnswerProblem`] of the last
/// one.
pub struct CotError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    thought_number: u32,
    kind: Kind,
    trace: Trace,
}

#[derive(Debug)]
pub(crate) enum Kind {
    EmptyProblem,
    Prompts(PromptsError),
    Limit(Limit),
    /// The definition of a tool isn't known yet, or a tool that needs approval doesn't exist.
    NotReady(ToolError),
    /// The run cannot wait for the approval of a tool call.
    CannotWait(CannotWait),
    Client(LlmError),
    Reply(AnswerProblem),
}

impl From<Limit> for Kind {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

impl CotError {
    pub(crate) fn new(thought_number: u32, kind: Kind, trace: Trace) -> Self {
        Self(Box::new(Inner {
            thought_number,
            kind,
            trace,
        }))
    }

    pub(crate) fn into_trace(self) -> Trace {
        self.0.trace
    }

    /// Returns the number of the thought that failed.
    pub fn thought_number(&self) -> u32 {
        self.0.thought_number
    }

    /// Returns the limit that was reached, if any.
    pub fn limit(&self) -> Option<Limit> {
        match self.0.kind {
            Kind::Limit(limit) => Some(limit),
            _ => None,
        }
    }

    /// Returns every reply of the turn with its raw text, every tool call, the forms that the server
    /// refused, and the cost. A call that was running when the turn ended is listed as failed.
    ///
    /// [`Reasoning::charge`](crate::Reasoning::charge) adds the cost to a state.
    pub fn trace(&self) -> &Trace {
        &self.0.trace
    }
}

impl fmt::Display for CotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            thought_number,
            kind,
            trace,
        } = self.0.as_ref();

        let tries = &trace.tries;
        write!(f, "thought {thought_number}: ")?;
        match kind {
            Kind::EmptyProblem => f.write_str("the problem is empty; expected a text"),
            Kind::Prompts(error) => fmt::Display::fmt(error, f),
            Kind::Limit(limit) => write!(
                f,
                "the limit of {limit} was reached without a conclusion; the thoughts are kept, so the run can continue with a higher limit"
            ),
            Kind::NotReady(error) => ErrorText(error).fmt(f),
            Kind::CannotWait(error) => {
                write!(f, "a tool call has to wait for approval: {error}")
            }
            Kind::Client(error) => {
                f.write_str("the call to the model failed: ")?;
                ErrorText(error).fmt(f)
            }
            Kind::Reply(problem) => {
                // Replies with tool calls have no complaint.
                let unusable = tries.iter().filter(|one| one.complaint.is_some()).count();
                let plural = if unusable == 1 { "y" } else { "ies" };
                write!(f, "no usable reply in {unusable} tr{plural}: ")?;

                match tries.last().filter(|_| f.alternate()) {
                    Some(Try { reply, .. }) => {
                        write!(f, "{}{}", with_excerpt(problem, reply), ReplyExcerpt(reply))
                    }
                    None => problem.fmt(f),
                }
            }
        }
    }
}

cogwork_text::debug_as_display!(CotError);

impl Error for CotError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0.kind {
            Kind::Client(error) => Some(error),
            Kind::Reply(problem) => Some(problem),
            Kind::Prompts(error) => Some(error),
            Kind::NotReady(error) => Some(error),
            Kind::CannotWait(error) => Some(error),
            Kind::EmptyProblem | Kind::Limit(_) => None,
        }
    }
}
