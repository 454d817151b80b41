use std::fmt;
use std::io;
use std::sync::Arc;

use cogwork_flow::BoxError;
use cogwork_text::{Escaped, Name};

/// The error of a store.
///
/// `{}` writes one line with the path of the file and, if the error is about a line, its number;
/// `{:#}` adds the content of that line. Both escape invisible characters. Inside a run, it is the
/// source of a [`RunError`](cogwork_flow::RunError) for which
/// [`is_journal`](cogwork_flow::RunError::is_journal) is true.
#[derive(Clone)]
pub struct StoreError(Arc<Problem>);

#[derive(Clone)]
struct Problem {
    kind: Kind,
    text: String,
    excerpt: Option<String>,
    flow_changes: Option<String>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Locked,
    Missing,
    AlreadyThere,
    AnotherFlow,
    AnotherInput,
    AnotherState,
    Damaged,
    Value,
    Ended,
    UnknownEvent,
    UnknownStep,
    Gone,
    Unavailable,
    Other,
}

impl StoreError {
    /// Returns whether the run is in use, in this process or a different one.
    pub fn is_locked(&self) -> bool {
        self.0.kind == Kind::Locked
    }

    /// Returns whether the run doesn't exist.
    pub fn is_missing(&self) -> bool {
        self.0.kind == Kind::Missing
    }

    /// Returns whether a run with this id already exists.
    pub fn is_already_there(&self) -> bool {
        self.0.kind == Kind::AlreadyThere
    }

    /// Returns whether the run belongs to a different flow, or to this flow before it was changed.
    pub fn is_another_flow(&self) -> bool {
        self.0.kind == Kind::AnotherFlow
    }

    /// Returns how the flow was changed since the run began, in one line, if that is the error.
    pub fn flow_changes(&self) -> Option<&str> {
        self.0.flow_changes.as_deref()
    }

    /// Returns whether the run was started with a different input.
    pub fn is_another_input(&self) -> bool {
        self.0.kind == Kind::AnotherInput
    }

    /// Returns whether the run was resumed with a state other than the one with which it began; see
    /// [`Run::with_journal`](cogwork_flow::Run::with_journal). The record was left unchanged.
    pub fn is_another_state(&self) -> bool {
        self.0.kind == Kind::AnotherState
    }

    /// Returns whether the record was modified, isn't a record, or has an unsupported version of
    /// the format. The record was left unchanged.
    pub fn is_damaged(&self) -> bool {
        self.0.kind == Kind::Damaged
    }

    /// Returns whether a value cannot be written as JSON, or a recorded value doesn't have the
    /// requested type.
    pub fn is_value(&self) -> bool {
        self.0.kind == Kind::Value
    }

    /// Returns whether the run has ended and doesn't accept answers.
    pub fn is_ended(&self) -> bool {
        self.0.kind == Kind::Ended
    }

    /// Returns whether no node of the flow waits for the event.
    pub fn is_unknown_event(&self) -> bool {
        self.0.kind == Kind::UnknownEvent
    }

    /// Returns whether a run cannot be [forked](crate::Fork) at a step, because neither the step nor
    /// the one before it is on record, or an outcome to edit isn't.
    pub fn is_unknown_step(&self) -> bool {
        self.0.kind == Kind::UnknownStep
    }

    /// Returns whether somebody else removed or wrote the record of a run in a database while the run
    /// was in use, or took over its lease. The last outcomes of the run aren't recorded.
    pub fn is_gone(&self) -> bool {
        self.0.kind == Kind::Gone
    }

    /// Returns whether the database cannot be reached or doesn't respond. This may be temporary.
    pub fn is_unavailable(&self) -> bool {
        self.0.kind == Kind::Unavailable
    }

    #[cfg(feature = "conformance")]
    pub(crate) fn kind(&self) -> Kind {
        self.0.kind
    }

    pub(crate) fn new(kind: Kind, text: impl fmt::Display) -> Self {
        Self(Arc::new(Problem {
            kind,
            text: shown(text),
            excerpt: None,
            flow_changes: None,
            source: None,
        }))
    }

    fn with(self, add: impl FnOnce(&mut Problem)) -> Self {
        let mut problem = Arc::unwrap_or_clone(self.0);
        add(&mut problem);
        Self(Arc::new(problem))
    }

    /// Creates the error of a flow with these changes.
    pub(crate) fn changed_flow(text: impl fmt::Display, changes: String) -> Self {
        let error = Self::new(Kind::AnotherFlow, text);
        error.with(|problem| problem.flow_changes = Some(shown(changes)))
    }

    /// Creates the error of an invalid line.
    pub(crate) fn line(kind: Kind, text: impl fmt::Display, number: u64, line: &[u8]) -> Self {
        let start = line.get(..4 * EXCERPT).unwrap_or(line);
        let start = String::from_utf8_lossy(start);
        let start = Escaped::new(&start).with_max_chars(EXCERPT);

        let excerpt = format!("{number:>4} | {start}");
        Self::new(kind, text).with(|problem| problem.excerpt = Some(excerpt))
    }

    /// Creates the error of a failed system call. `what` names the file and the operation.
    pub(crate) fn io(what: impl fmt::Display, error: io::Error) -> Self {
        Self::caused(Kind::Other, what, error)
    }

    /// Creates an error with a source of any kind.
    pub(crate) fn caused(kind: Kind, what: impl fmt::Display, error: impl Into<BoxError>) -> Self {
        let source = error.into();
        let error = Self::new(kind, format_args!("{what}: {source}"));
        error.with(|problem| problem.source = Some(source.into()))
    }

    /// Converts the error of a journal over this store.
    pub(crate) fn of_journal(place: &str, error: BoxError) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(error) => Self::caused(Kind::Other, place, error),
        }
    }

    pub(crate) fn no_runtime(place: impl fmt::Display) -> Self {
        Self::new(
            Kind::Other,
            format_args!("{place}: a journal needs a tokio runtime, and there is none here"),
        )
    }

    pub(crate) fn missing(run_id: &str, place: &str) -> Self {
        let run_id = Name(run_id);
        Self::new(
            Kind::Missing,
            format_args!("there is no run `{run_id}`: it would be in {place}"),
        )
    }

    pub(crate) fn already_there(run_id: &str, place: &str) -> Self {
        let run_id = Name(run_id);
        Self::new(
            Kind::AlreadyThere,
            format_args!(
                "the run `{run_id}` already exists in {place}; resume it, or choose a different id"
            ),
        )
    }

    pub(crate) fn ended(run_id: &str) -> Self {
        let run_id = Name(run_id);
        Self::new(
            Kind::Ended,
            format_args!("the run `{run_id}` has ended and doesn't accept answers"),
        )
    }
}

/// The maximum length of an excerpt, in characters.
const EXCERPT: usize = 200;

/// The maximum length of a message, in characters. It may quote a record, whose texts may have any
/// length.
const MESSAGE: usize = 4_000;

fn shown(message: impl fmt::Display) -> String {
    Escaped::new(message).with_max_chars(MESSAGE).to_string()
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)?;
        match &self.0.excerpt {
            Some(excerpt) if f.alternate() => write!(f, "\n{excerpt}"),
            _ => Ok(()),
        }
    }
}

cogwork_text::debug_as_display!(StoreError);

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
