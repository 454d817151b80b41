//! The rows of a run in a database, whichever database it is.

mod columns;
mod read;

pub(crate) use self::columns::{Columns, count, fork, fork_column, read_schema, status};
pub(crate) use self::read::{LineRow, RowReader, RunPlace, numbers};

use serde::Serialize;

use crate::StoreError;
use crate::behind::Edit;
use crate::error::Kind;
use crate::header::Header;
use crate::keep::{NewRun, RecordedRun};
use crate::line::{Line, too_long};
use crate::summary::Standing;
use crate::waits::WaitChange;

/// The rows of a run that is open, as they are after the last change.
pub(crate) struct Rows {
    place: RunPlace,
    header: Header,
    /// The number of lines.
    lines: i64,
    standing: Standing,
    columns: Columns,
}

/// A change of the rows in one transaction.
pub(crate) struct RowChange {
    /// The number of lines before the change.
    pub(crate) before: i64,
    /// Whether the lines replace all earlier ones.
    pub(crate) replaces: bool,
    /// The number of lines after the change.
    pub(crate) all: i64,
    /// The new lines, which are the last of them.
    pub(crate) lines: Vec<String>,
    /// When each of them was written, in milliseconds since 1970. The database may have its own clock.
    pub(crate) times: Vec<Option<i64>>,
    pub(crate) waits: Vec<WaitChange>,
    /// The columns with the status, if they change.
    pub(crate) columns: Option<Columns>,
}

impl RowChange {
    /// Returns the number of the first new line.
    pub(crate) fn first(&self) -> i64 {
        let before = self.all.saturating_sub(count(self.lines.len()));
        before.saturating_add(1)
    }
}

impl Rows {
    /// Returns the rows of a run that isn't written yet, and the change that writes them.
    pub(crate) fn start(place: RunPlace, run: NewRun) -> Result<(Self, RowChange), StoreError> {
        let NewRun { header, lines } = run;
        let mut rows = Self {
            place,
            header,
            lines: 0,
            standing: Standing::default(),
            columns: Columns::open(),
        };

        let change = rows.change(Edit::replace(lines))?;
        Ok((rows, change))
    }

    /// Returns the rows of a run that was read.
    pub(crate) fn resume(place: RunPlace, record: &RecordedRun) -> Self {
        let mut standing = Standing::default();
        for line in &record.lines {
            standing.add(&line.entry);
        }

        Self {
            place,
            header: record.header.clone(),
            lines: count(record.lines.len()).saturating_add(1),
            columns: Columns::of(&standing),
            standing,
        }
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Makes a change. If it isn't written, the rows must not be used any longer.
    pub(crate) fn change(&mut self, edit: Edit) -> Result<RowChange, StoreError> {
        let before = self.lines;
        let replaces = edit.replacement.is_some();
        let mut lines = Vec::new();
        let mut times = Vec::new();
        let mut waits = Vec::new();

        if replaces {
            self.standing = Standing::default();
            self.lines = 0;
            waits.push(WaitChange::AllEnded);
            lines.push(self.line(&self.header)?);
            times.push(None);
        }

        let replacement = edit.replacement.into_iter().flatten();
        for Line { entry, at } in replacement.chain(edit.appended) {
            lines.push(self.line(&entry)?);
            times.push(at.map(count));
            waits.extend(self.standing.add(&entry));
        }

        self.lines = self.lines.saturating_add(count(lines.len()));
        let columns = self.new_columns();
        Ok(RowChange {
            before,
            replaces,
            all: self.lines,
            lines,
            times,
            waits,
            columns,
        })
    }

    /// Returns a line. A longer one than the store allows is an error, since it could not be read
    /// again.
    fn line(&self, object: &impl Serialize) -> Result<String, StoreError> {
        let place = || self.place.line(self.lines.saturating_add(1));
        let line = serde_json::to_string(object).map_err(|error| {
            StoreError::io(format_args!("{}: cannot be written", place()), error.into())
        })?;

        let length = line.len();
        if length > self.place.max_line {
            let problem = too_long(
                format_args!("a line of {length} bytes"),
                self.place.max_line,
            );
            let text = format_args!("{}: {problem}", place());
            return Err(StoreError::new(Kind::TooLarge, text));
        }

        Ok(line)
    }

    /// Returns the columns if they changed. Most of the time they don't, which saves updating their
    /// index.
    fn new_columns(&mut self) -> Option<Columns> {
        let columns = Columns::of(&self.standing);
        if columns == self.columns {
            return None;
        }

        self.columns = columns.clone();
        Some(columns)
    }
}
