use std::error::Error;
use std::fmt;

use cogwork_llm::LlmError;
use cogwork_text::ErrorText;

use crate::{FormRefusal, Limit, PromptError, ReplyProblem, Spent, Trace, Try};

/// Why a turn made no thought.
///
/// Nothing is lost: the state is as after the last thought, and the error holds what this turn
/// has: every raw reply, what was wrong with each, and what they cost. `{}` is one line; `{:#}` adds
/// the place in the last reply.
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
    Prompts(PromptError),
    Limit(Limit),
    Client(LlmError),
    Reply(ReplyProblem),
}

impl CotError {
    pub(crate) fn new(thought_number: u32, kind: Kind) -> Self {
        Self(Box::new(Inner {
            thought_number,
            kind,
            trace: Trace::default(),
        }))
    }

    pub(crate) fn with_trace(mut self, trace: Trace) -> Self {
        self.0.trace = trace;
        self
    }

    /// The number of the thought that was not made.
    pub fn thought_number(&self) -> u32 {
        self.0.thought_number
    }

    /// The limit that was reached, if it was one.
    pub fn limit(&self) -> Option<Limit> {
        match self.0.kind {
            Kind::Limit(limit) => Some(limit),
            _ => None,
        }
    }

    /// What was wrong with the last reply, if no reply of the turn could be used.
    pub fn reply_problem(&self) -> Option<&ReplyProblem> {
        match &self.0.kind {
            Kind::Reply(problem) => Some(problem),
            _ => None,
        }
    }

    /// The client's error, if a call failed.
    pub fn llm_error(&self) -> Option<&LlmError> {
        match &self.0.kind {
            Kind::Client(error) => Some(error),
            _ => None,
        }
    }

    /// What is wrong with the prompts, if they failed their check.
    pub fn prompt_error(&self) -> Option<&PromptError> {
        match &self.0.kind {
            Kind::Prompts(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the problem is empty.
    pub fn is_empty_problem(&self) -> bool {
        matches!(self.0.kind, Kind::EmptyProblem)
    }

    /// Every reply of the turn, in order, with the model's raw text.
    pub fn tries(&self) -> &[Try] {
        &self.0.trace.tries
    }

    /// The forms of a reply that the server refused in the turn, in order, with what it said.
    pub fn refusals(&self) -> &[FormRefusal] {
        &self.0.trace.refusals
    }

    /// What the turn cost; [`Reasoning::charge`](crate::Reasoning::charge) adds it to the state's sum.
    pub fn spent(&self) -> Spent {
        self.0.trace.spent
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
            Kind::EmptyProblem => {
                f.write_str("the problem is empty; expected a text that says what to solve")
            }
            Kind::Prompts(error) => fmt::Display::fmt(error, f),
            Kind::Limit(limit) => write!(
                f,
                "the limit of {limit} is reached without a conclusion; the thoughts are kept, and with a higher limit they go on"
            ),
            Kind::Client(error) => {
                f.write_str("the call to the model failed: ")?;
                ErrorText(error).fmt(f)
            }
            Kind::Reply(problem) => {
                let plural = if tries.len() == 1 { "y" } else { "ies" };
                write!(f, "no usable reply in {} tr{plural}: ", tries.len())?;
                fmt::Display::fmt(problem, f)
            }
        }
    }
}

impl fmt::Debug for CotError {
    /// The sentence of `{:#}`: what a program shows that returns the error from `main`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl Error for CotError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0.kind {
            Kind::Client(error) => Some(error),
            Kind::Reply(problem) => Some(problem),
            Kind::Prompts(error) => Some(error),
            Kind::EmptyProblem | Kind::Limit(_) => None,
        }
    }
}
