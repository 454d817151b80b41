use std::fmt;

use cogwork_flow::RunError;
use cogwork_llm::LlmError;
use cogwork_text::{ErrorText, Name, OneLine, ReplyExcerpt};

use super::{Call, Solving};

/// The error of a run that failed. [`so_far`](Self::so_far) contains the thoughts up to that point,
/// and an [`LlmError`] that is the cause is its source.
pub struct SolveError(Box<Failure>);

struct Failure {
    stage: Option<String>,
    cause: Cause,
    so_far: Option<Box<Solving>>,
    /// The calls of the failed step.
    calls: Vec<Call>,
}

#[derive(thiserror::Error)]
pub(super) enum Cause {
    #[error("the call to the model failed: {}", ErrorText(.0))]
    Client(#[source] LlmError),
    #[error("no reply could be used: {}", OneLine::new(.0))]
    Unreadable(String),
    #[error(transparent)]
    Flow(RunError),
    #[error("{}", OneLine::new(.0))]
    Method(String),
}

cogwork_text::debug_as_display!(Cause);

impl SolveError {
    pub(super) fn method(message: impl Into<String>) -> Self {
        Cause::Method(message.into()).into()
    }

    pub(super) fn at(mut self, stage: &str) -> Self {
        let at = &mut self.0.stage;
        at.get_or_insert_with(|| stage.to_owned());
        self
    }

    /// Sets the calls of the step that failed.
    pub(super) fn with_calls(mut self, calls: Vec<Call>) -> Self {
        self.0.calls = calls;
        self
    }

    /// Creates the error of a run of a solver's [flow](super::Solver::into_flow), with the state in
    /// which it ended. The calls of the step that failed are added to the state.
    pub fn of_run(error: RunError, mut solving: Solving) -> Self {
        let mut error = match error.downcast_ref::<Self>() {
            None => Cause::Flow(error).into(),
            // The downcast takes the error apart, so it is only tried once it must succeed.
            Some(_) => {
                let own = error.into_source().map(|source| source.downcast::<Self>());
                let own = own.and_then(Result::ok);
                own.map_or_else(|| Self::method("the run failed"), |own| *own)
            }
        };

        solving.calls.append(&mut error.0.calls);
        error.0.so_far = Some(Box::new(solving));
        error
    }

    /// Returns the run up to the failure, with all calls.
    ///
    /// It is only set by [`Solver::solve`](super::Solver::solve) and [`of_run`](Self::of_run), since
    /// a program that runs the flow already has the state.
    pub fn so_far(&self) -> Option<&Solving> {
        self.0.so_far.as_deref()
    }
}

impl From<Cause> for SolveError {
    fn from(cause: Cause) -> Self {
        Self(Box::new(Failure {
            stage: None,
            cause,
            so_far: None,
            calls: Vec::new(),
        }))
    }
}

cogwork_text::debug_as_display!(SolveError);

/// `{:#}` adds the start of the unusable reply, or the long form of the client's error.
impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure {
            stage,
            cause,
            calls,
            ..
        } = &*self.0;
        if let Some(stage) = stage {
            write!(f, "stage `{}`: ", Name(stage))?;
        }

        match cause {
            Cause::Client(error) if f.alternate() => {
                write!(f, "the call to the model failed: {:#}", ErrorText(error))
            }
            Cause::Unreadable(_) if f.alternate() => {
                // The calls of the failed step move into the state when there is one.
                let calls = self.so_far().map_or(calls.as_slice(), Solving::calls);
                let last = calls.iter().rev().find_map(Call::last_reply);
                write!(f, "{cause}")?;
                last.map_or(Ok(()), |reply| ReplyExcerpt(reply).fmt(f))
            }
            cause => write!(f, "{cause}"),
        }
    }
}

impl std::error::Error for SolveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.0.cause)
    }
}
