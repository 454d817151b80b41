use std::fmt;

use cogwork_flow::RunError;
use cogwork_llm::LlmError;
use cogwork_text::{ErrorText, Name, OneLine, ReplyExcerpt};

use super::{Call, Solving};
use crate::SessionError;

/// The error of a run that failed. [`so_far`](Self::so_far) contains the thoughts up to that point.
pub struct SolveError(Box<Failure>);

struct Failure {
    stage: Option<String>,
    kind: Kind,
    so_far: Option<Box<Solving>>,
    /// The calls of the failed step.
    calls: Vec<Call>,
}

#[derive(Debug)]
enum Kind {
    Client(LlmError),
    Unreadable(String),
    Session(SessionError),
    Flow(RunError),
    Method(String),
}

impl SolveError {
    pub(super) fn method(message: impl Into<String>) -> Self {
        Kind::Method(message.into()).into()
    }

    pub(super) fn client(error: LlmError) -> Self {
        Kind::Client(error).into()
    }

    pub(super) fn unreadable(problem: String) -> Self {
        Kind::Unreadable(problem).into()
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
        let mut error = if error.downcast_ref::<Self>().is_some() {
            match error.into_source().map(|source| source.downcast::<Self>()) {
                Some(Ok(own)) => *own,
                Some(Err(other)) => Self::method(other.to_string()),
                None => Self::method("the run failed"),
            }
        } else {
            Kind::Flow(error).into()
        };

        solving.calls.append(&mut error.0.calls);
        error.0.so_far = Some(Box::new(solving));

        error
    }

    /// Returns the last reply of the model.
    fn last_reply(&self) -> Option<&str> {
        let calls = self
            .so_far()
            .map_or(self.0.calls.as_slice(), Solving::calls);
        calls.iter().rev().find_map(Call::last_reply)
    }

    /// Returns the stage in which the run failed.
    pub fn stage(&self) -> Option<&str> {
        self.0.stage.as_deref()
    }

    /// Returns the error of the client, if that is the cause.
    pub fn client_error(&self) -> Option<&LlmError> {
        match &self.0.kind {
            Kind::Client(error) => Some(error),
            _ => None,
        }
    }

    /// Returns whether the run failed because none of the model's replies could be used. The
    /// replies are in the [calls](Solving::calls).
    pub fn is_unreadable(&self) -> bool {
        matches!(self.0.kind, Kind::Unreadable(_))
    }

    /// Returns the run up to the failure, with all calls.
    ///
    /// It is only set by [`Solver::solve`](super::Solver::solve) and [`of_run`](Self::of_run), since
    /// a program that runs the flow already has the state.
    pub fn so_far(&self) -> Option<&Solving> {
        self.0.so_far.as_deref()
    }
}

impl From<Kind> for SolveError {
    fn from(kind: Kind) -> Self {
        let calls = Vec::new();
        Self(Box::new(Failure {
            stage: None,
            kind,
            so_far: None,
            calls,
        }))
    }
}

impl From<SessionError> for SolveError {
    fn from(error: SessionError) -> Self {
        Kind::Session(error).into()
    }
}

cogwork_text::debug_as_display!(SolveError);

/// `{:#}` adds the start of the unusable reply, or the long form of the client's error.
impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(stage) = &self.0.stage {
            write!(f, "stage `{}`: ", Name(stage))?;
        }
        match &self.0.kind {
            Kind::Client(error) => {
                f.write_str("the call to the model failed: ")?;
                ErrorText(error).fmt(f)
            }
            Kind::Unreadable(problem) => {
                write!(f, "no reply could be used: {}", OneLine::new(problem))?;
                match self.last_reply().filter(|_| f.alternate()) {
                    Some(reply) => ReplyExcerpt(reply).fmt(f),
                    None => Ok(()),
                }
            }
            Kind::Session(error) => error.fmt(f),
            Kind::Flow(error) => error.fmt(f),
            Kind::Method(message) => OneLine::new(message).fmt(f),
        }
    }
}

impl std::error::Error for SolveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            Kind::Client(error) => Some(error),
            Kind::Session(error) => Some(error),
            Kind::Flow(error) => Some(error),
            Kind::Unreadable(_) | Kind::Method(_) => None,
        }
    }
}
