use std::fmt;
use std::io;
use std::sync::Arc;

use cogwork_flow::BoxError;
use cogwork_text::{Escaped, Name};

/// The error of a store.
///
/// It is shown in one line, with the path of the file and, if it is about a line, its number. Invisible
/// characters are escaped. Inside a run, it is the source of a [`RunError`](cogwork_flow::RunError) for
/// which [`is_journal`](cogwork_flow::RunError::is_journal) is true.
#[derive(Clone)]
pub struct StoreError(Arc<Problem>);

struct Problem {
    kind: StoreErrorKind,
    text: String,
    source: Option<BoxError>,
}

/// What went wrong, for a program that does something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The run is in use, in this process or a different one.
    InUse,
    /// The run doesn't exist.
    Missing,
    /// A run with this id already exists.
    AlreadyThere,
    /// The run belongs to a different flow, or to this flow before it was changed.
    AnotherFlow,
    /// The id of a new run is empty, or has a NUL character.
    RunId,
    /// The run was started with a different input.
    AnotherInput,
    /// The run was resumed with a state other than the one with which it began; see
    /// [`Run::with_journal`](cogwork_flow::Run::with_journal). The record was left unchanged.
    AnotherState,
    /// The record was modified, isn't a record, or has an unsupported version of the format. It was
    /// left unchanged.
    Damaged,
    /// A value cannot be written as JSON, or a recorded value doesn't have the requested type.
    Value,
    /// The run has ended and doesn't accept answers.
    Ended,
    /// No node of the flow waits for the event.
    UnknownEvent,
    /// The run doesn't wait for the event, or its wait has an answer.
    NotWaiting,
    /// The answer doesn't match the JSON Schema of its wait, or several waits would take it.
    RefusedAnswer,
    /// The run cannot be [forked](crate::Fork) at a step, because neither the step nor the one before
    /// it is on record, or an outcome to edit isn't.
    UnknownStep,
    /// Somebody else removed or wrote the record of a run in a database while the run was in use, or
    /// took over its lease. The last outcomes of the run aren't recorded.
    Gone,
    /// The database cannot be reached or doesn't respond. This may be temporary.
    Unavailable,
    /// Anything else, such as an error of the disk.
    Other,
}

impl StoreError {
    /// Returns what kind of error it is.
    pub fn kind(&self) -> StoreErrorKind {
        self.0.kind
    }

    /// Creates an error, for a store of your own. The text is shortened and shown in one line.
    pub fn new(kind: StoreErrorKind, text: impl fmt::Display) -> Self {
        Self::with_source(kind, text, None)
    }

    fn with_source(
        kind: StoreErrorKind,
        text: impl fmt::Display,
        source: Option<BoxError>,
    ) -> Self {
        Self(Arc::new(Problem {
            kind,
            text: Escaped::new(text).with_max_chars(MESSAGE).to_string(),
            source,
        }))
    }

    /// Creates the error of a failed system call. `what` names the file and the operation.
    pub(crate) fn io(what: impl fmt::Display, error: io::Error) -> Self {
        Self::caused(StoreErrorKind::Other, what, error)
    }

    /// Creates an error with a source of any kind.
    pub(crate) fn caused(
        kind: StoreErrorKind,
        what: impl fmt::Display,
        error: impl Into<BoxError>,
    ) -> Self {
        let source = error.into();
        // With the source, because most programs print the message alone.
        let text = format!("{what}: {source}");
        Self::with_source(kind, text, Some(source))
    }

    /// Converts the error of a journal over this store.
    pub(crate) fn of_journal(place: &str, error: BoxError) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(error) => Self::caused(StoreErrorKind::Other, place, error),
        }
    }

    pub(crate) fn no_runtime(place: impl fmt::Display) -> Self {
        Self::new(
            StoreErrorKind::Other,
            format_args!("{place}: a journal needs a tokio runtime, and there is none here"),
        )
    }

    pub(crate) fn missing(run_id: &str, place: &str) -> Self {
        let run_id = Name(run_id);
        Self::new(
            StoreErrorKind::Missing,
            format_args!("there is no run `{run_id}`: it would be in {place}"),
        )
    }

    pub(crate) fn already_there(run_id: &str, place: &str) -> Self {
        let run_id = Name(run_id);
        Self::new(
            StoreErrorKind::AlreadyThere,
            format_args!(
                "the run `{run_id}` already exists in {place}; resume it, or choose a different id"
            ),
        )
    }

    pub(crate) fn gone(run_id: &str, place: &str) -> Self {
        let run_id = Name(run_id);
        Self::new(
            StoreErrorKind::Gone,
            format_args!(
                "{place}: the run `{run_id}` was removed, or written by somebody else, while it was at work"
            ),
        )
    }

    pub(crate) fn ended(run_id: &str) -> Self {
        let run_id = Name(run_id);
        Self::new(
            StoreErrorKind::Ended,
            format_args!("the run `{run_id}` has ended and doesn't accept answers"),
        )
    }
}

/// The maximum length of a message, in characters. It may quote a record, whose texts may have any
/// length.
const MESSAGE: usize = 4_000;

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

cogwork_text::debug_as_display!(StoreError);

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
