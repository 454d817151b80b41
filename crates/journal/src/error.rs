use std::fmt;
use std::io;
use std::sync::Arc;

use cogwork_flow::BoxError;
use cogwork_text::{Escaped, Name};

/// Why a store could not do what it was asked.
///
/// `{}` is one line that names the file, and the line where there is one; `{:#}` adds the line
/// itself. Invisible characters are escaped in both. Inside a run it is the source of a [`RunError`](cogwork_flow::RunError) that
/// [is of the journal](cogwork_flow::RunError::is_journal).
#[derive(Clone)]
pub struct StoreError(Arc<Problem>);

struct Problem {
    kind: Kind,
    text: String,
    excerpt: Option<String>,
    source: Option<BoxError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Locked,
    Missing,
    AlreadyThere,
    AnotherFlow,
    Damaged,
    Value,
    TooLarge,
    Ended,
    UnknownEvent,
    Gone,
    Other,
}

impl StoreError {
    /// Whether another runner has the run, in this process or another.
    pub fn is_locked(&self) -> bool {
        self.0.kind == Kind::Locked
    }

    /// Whether there is no run of this id.
    pub fn is_missing(&self) -> bool {
        self.0.kind == Kind::Missing
    }

    /// Whether a run of this id is there already.
    pub fn is_already_there(&self) -> bool {
        self.0.kind == Kind::AlreadyThere
    }

    /// Whether the run is one of another flow, or of this flow as it was before it was changed.
    pub fn is_another_flow(&self) -> bool {
        self.0.kind == Kind::AnotherFlow
    }

    /// Whether the record is not as it was written, is no record at all, or is one of another
    /// version of the format. It was left as it is.
    pub fn is_damaged(&self) -> bool {
        self.0.kind == Kind::Damaged
    }

    /// Whether a value the program gave cannot be written as JSON, or what is on record is none of
    /// the type it asked for.
    pub fn is_value(&self) -> bool {
        self.0.kind == Kind::Value
    }

    /// Whether something is larger than the store takes.
    pub fn is_too_large(&self) -> bool {
        self.0.kind == Kind::TooLarge
    }

    /// Whether the run has ended, and nothing in it waits for an answer.
    pub fn is_ended(&self) -> bool {
        self.0.kind == Kind::Ended
    }

    /// Whether no node of the run's flow waits for the event.
    pub fn is_unknown_event(&self) -> bool {
        self.0.kind == Kind::UnknownEvent
    }

    /// Whether the record was removed, moved, replaced or written by somebody else while the run was at work,
    /// or its lock was removed. What the run did last is not on record.
    pub fn is_gone(&self) -> bool {
        self.0.kind == Kind::Gone
    }

    pub(crate) fn new(kind: Kind, text: impl fmt::Display) -> Self {
        Self(Arc::new(Problem {
            kind,
            text: shown(text),
            excerpt: None,
            source: None,
        }))
    }

    /// A line that is not what it should be.
    pub(crate) fn line(kind: Kind, text: impl fmt::Display, number: u64, line: &[u8]) -> Self {
        let start = line.get(..4 * EXCERPT).unwrap_or(line);
        let start = String::from_utf8_lossy(start);
        let excerpt = format!(
            "{number:>4} | {}",
            Escaped::new(&start).with_max_chars(EXCERPT)
        );

        Self(Arc::new(Problem {
            kind,
            text: shown(text),
            excerpt: Some(excerpt),
            source: None,
        }))
    }

    /// The operating system refused something: `what` says to which file and what it was.
    pub(crate) fn io(what: impl fmt::Display, error: io::Error) -> Self {
        Self::caused(Kind::Other, what, error)
    }

    /// The same of something else.
    pub(crate) fn caused(kind: Kind, what: impl fmt::Display, error: impl Into<BoxError>) -> Self {
        let source = error.into();
        let text = shown(format_args!("{what}: {source}"));
        Self(Arc::new(Problem {
            kind,
            text,
            excerpt: None,
            source: Some(source),
        }))
    }

    /// What a journal over this store answered.
    pub(crate) fn of_journal(place: &str, error: BoxError) -> Self {
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(error) => Self::caused(Kind::Other, place, error),
        }
    }

    pub(crate) fn no_runtime(place: impl fmt::Display) -> Self {
        Self::new(
            Kind::Other,
            format_args!(
                "{place}: a journal is written from within a tokio runtime, and there is none here"
            ),
        )
    }

    /// `place` was there when the run was taken up.
    pub(crate) fn gone(place: impl fmt::Display) -> Self {
        let text =
            "it was removed, moved or replaced while it was in use; nothing more is recorded";
        Self::new(Kind::Gone, format_args!("{place}: {text}"))
    }

    pub(crate) fn ended(run_id: &str) -> Self {
        let run_id = Name(run_id);
        Self::new(
            Kind::Ended,
            format_args!("the run `{run_id}` has ended: no step will take an answer"),
        )
    }
}

/// How much of a line is shown, in characters.
const EXCERPT: usize = 200;

/// How much of a message is shown, in characters. It may quote a record, whose texts can be of any length.
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

impl fmt::Debug for StoreError {
    /// The sentence of `{:#}`: what a program shows that returns the error from `main`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
