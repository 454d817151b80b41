//! The location of a run in a database, for messages.

use cogwork_flow::journal::EntryError;
use cogwork_text::Name;

use crate::StoreError;
use crate::error::Kind;

/// The location of a run, for messages, and the maximum length of its lines.
#[derive(Debug, Clone)]
pub(crate) struct RunPlace {
    /// The location of the database.
    pub(crate) database: String,
    pub(crate) run_id: String,
    pub(crate) max_line: usize,
}

impl RunPlace {
    /// Names a line.
    pub(crate) fn line(&self, number: i64) -> String {
        let database = &self.database;
        let run_id = Name(&self.run_id);
        format!("{database}, run `{run_id}`, line {number}")
    }

    /// Returns the error for an entry that cannot follow the entries before it.
    pub(crate) fn out_of_place(&self, error: EntryError) -> StoreError {
        // The first line is the header, and lines are counted from 1.
        let index = i64::try_from(error.index).unwrap_or(i64::MAX);
        self.problem(Kind::Damaged, index.saturating_add(2), &error.problem)
    }

    /// Returns the error for a run that was removed or written by somebody else.
    pub(crate) fn gone(&self) -> StoreError {
        let place = &self.database;
        let run_id = Name(&self.run_id);
        let text = format_args!(
            "{place}: the run `{run_id}` was removed, or written by somebody else, while it was at work"
        );

        StoreError::new(Kind::Gone, text)
    }

    pub(super) fn problem(&self, kind: Kind, number: i64, problem: &str) -> StoreError {
        StoreError::new(kind, format_args!("{}: {problem}", self.line(number)))
    }

    pub(super) fn damaged_line(&self, number: i64, problem: String, line: &[u8]) -> StoreError {
        let text = format!("{}: {problem}", self.line(number));
        let number = u64::try_from(number).unwrap_or_default();
        StoreError::line(Kind::Damaged, text, number, line)
    }
}
