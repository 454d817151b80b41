use std::fmt;

use cogwork_flow::{BuildError, RunError};
use cogwork_llm::LlmError;
use cogwork_text::{ErrorText, Name, OneLine, ReplyExcerpt};
use cogwork_tools::ToolError;

use super::{Call, EndReason, Solving};
use crate::SessionError;

/// The error of a run that failed. [`so_far`](Self::so_far) contains the thoughts up to that point.
pub struct SolveError(Box<Failure>);

struct Failure {
    stage: Option<String>,
    kind: Kind,
    so_far: Option<Box<Solving>>,
    /// The calls of the failed turn.
    calls: Vec<Call>,
}

#[derive(Debug)]
enum Kind {
    Client(LlmError),
    Unreadable(String),
    Session(SessionError),
    Flow(RunError),
    Build(BuildError),
    EmptyProblem,
    NotReady(ToolError),
    Driver(String),
}

impl SolveError {
    /// Creates an error for a driver that can't take a turn.
    pub fn driver(message: impl Into<String>) -> Self {
        Kind::Driver(message.into()).into()
    }

    pub(super) fn client(error: LlmError) -> Self {
        Kind::Client(error).into()
    }

    pub(super) fn unreadable(problem: String) -> Self {
        Kind::Unreadable(problem).into()
    }

    pub(super) fn empty_problem() -> Self {
        Kind::EmptyProblem.into()
    }

    pub(super) fn not_ready(error: ToolError) -> Self {
        Kind::NotReady(error).into()
    }

    pub(super) fn build(error: BuildError) -> Self {
        Kind::Build(error).into()
    }

    pub(super) fn at(mut self, stage: &str, calls: Vec<Call>) -> Self {
        let failure = &mut *self.0;
        failure.stage.get_or_insert_with(|| stage.to_owned());
        failure.calls = calls;

        self
    }

    /// Creates the error of a run of a solver's [flow](super::Solver::into_flow), with the state in
    /// which it ended. The calls of the turn that failed are added to the state.
    pub fn of_run(error: RunError, mut solving: Solving) -> Self {
        let mut error = if error.downcast_ref::<Self>().is_some() {
            match error.into_source().map(|source| source.downcast::<Self>()) {
                Some(Ok(own)) => *own,
                Some(Err(other)) => Self::driver(other.to_string()),
                None => Self::driver("the run failed"),
            }
        } else {
            Kind::Flow(error).into()
        };

        solving.calls.append(&mut error.0.calls);
        error.0.so_far = Some(Box::new(solving));

        error
    }

    /// Returns the limit of the session that was reached, if that is the cause.
    pub(super) fn session_full(&self) -> Option<EndReason> {
        match self.0.kind {
            Kind::Session(SessionError::Full { limit, most }) => {
                Some(EndReason::SessionFull { limit, most })
            }
            _ => None,
        }
    }

    /// Returns the last reply of the model.
    fn last_reply(&self) -> Option<&str> {
        let calls = self
            .so_far()
            .map_or(self.0.calls.as_slice(), Solving::calls);
        calls.iter().rev().find_map(|call| match call {
            Call::Model { tries, .. } => tries.last().map(|last| last.reply.as_str()),
            Call::Tool { .. } => None,
        })
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
            Kind::Build(error) => error.fmt(f),
            Kind::EmptyProblem => f.write_str("the problem is empty; expected a text"),
            Kind::NotReady(error) => ErrorText(error).fmt(f),
            Kind::Driver(message) => OneLine::new(message).fmt(f),
        }
    }
}

impl std::error::Error for SolveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            Kind::Client(error) => Some(error),
            Kind::Session(error) => Some(error),
            Kind::Flow(error) => Some(error),
            Kind::Build(error) => Some(error),
            Kind::NotReady(error) => Some(error),
            Kind::Unreadable(_) | Kind::EmptyProblem | Kind::Driver(_) => None,
        }
    }
}
