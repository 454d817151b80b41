//! The rows of a run in a database, whichever database it is.

mod columns;
mod entries;
mod place;
mod read;

pub(crate) use self::columns::{Columns, count, fork, fork_column, read_schema, status};
pub(crate) use self::entries::EntryReader;
pub(crate) use self::place::RunPlace;
pub(crate) use self::read::{Record, RowReader};

use std::fmt;

use serde::Serialize;

use crate::StoreError;
use crate::behind::Edit;
use crate::error::Kind;
use crate::header::Header;
use crate::keep::NewRun;
use crate::line::{Chain, Joins, Line, Marks};
use crate::summary::Standing;
use crate::waits::WaitChange;

/// The rows of a run that is open, as they are after the last change.
pub(crate) struct Rows {
    place: RunPlace,
    header: Header,
    /// The number of lines.
    lines: i64,
    chain: Chain,
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
            chain: Chain::default(),
            standing: Standing::default(),
            columns: Columns::open(),
        };

        let change = rows.change(Edit::replace(lines))?;
        Ok((rows, change))
    }

    /// Returns the rows of a run that was read.
    pub(crate) fn resume(place: RunPlace, record: &Record) -> Self {
        let mut standing = Standing::default();
        for line in &record.entries {
            standing.add(&line.entry);
        }

        Self {
            place,
            header: record.header.clone(),
            lines: count(record.entries.len()).saturating_add(1),
            chain: record.chain,
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
        let place = &Place {
            run: &self.place,
            number: self.lines.saturating_add(1),
        };
        let replaces = edit.replacement.is_some();
        let mut lines = Vec::new();
        let mut waits = Vec::new();

        if replaces {
            self.chain = Chain::default();
            self.standing = Standing::default();
            self.lines = 0;
            waits.push(WaitChange::AllEnded);
            lines.push(line(&mut self.chain, &self.header, Marks::NONE, place)?);
        }

        let replacement = edit.replacement.into_iter().flatten();
        for Line { entry, at } in replacement.chain(edit.appended) {
            let joins = Joins::Nothing;
            lines.push(line(&mut self.chain, &entry, Marks { at, joins }, place)?);
            waits.extend(self.standing.add(&entry));
        }

        self.lines = self.lines.saturating_add(count(lines.len()));
        let columns = self.new_columns();
        Ok(RowChange {
            before,
            replaces,
            all: self.lines,
            lines,
            waits,
            columns,
        })
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

/// Where lines are written. It is only formatted for an error.
struct Place<'a> {
    run: &'a RunPlace,
    number: i64,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.run.line(self.number))
    }
}

fn line(
    chain: &mut Chain,
    object: &impl Serialize,
    marks: Marks,
    place: &Place<'_>,
) -> Result<String, StoreError> {
    let mut line = Vec::new();
    chain.append(&mut line, object, marks, place.run.max_line, place)?;
    line.pop(); // the newline

    String::from_utf8(line)
        .map_err(|error| StoreError::new(Kind::Other, format_args!("{place}: {error}")))
}
