//! Reads the record of a run, or a part of it, without locking it.

use std::fs::File;
use std::ops::Range;

use cogwork_files::Access;
use cogwork_flow::journal::{Entry, Json};

use super::files::Files;
use super::read::{Lines, cannot_read};
use crate::header::Header;
use crate::keep::{RecordedRun, Wanted};
use crate::line::Line;
use crate::{RecordedEntry, StoreError};

impl Files {
    /// Returns `None` if the run doesn't exist.
    pub(super) fn read_entries(
        &self,
        range: Range<u64>,
    ) -> Result<Option<Vec<RecordedEntry>>, StoreError> {
        let Some(file) = self.open_to_read()? else {
            return Ok(None);
        };

        let mut lines = Lines::of(&self.path, &file, self.max_line);
        self.read_header(&mut lines, &Wanted::Answerable)?;

        let mut entries = Vec::new();
        for index in 0..range.end {
            let Some(line) = lines.entry()? else {
                break;
            };
            if index >= range.start {
                entries.push(RecordedEntry::new(index, unshared(line)));
            }
        }

        Ok(Some(entries))
    }

    /// Returns `None` if the run doesn't exist.
    pub(super) fn read_record(&self, wanted: &Wanted) -> Result<Option<RecordedRun>, StoreError> {
        let Some(file) = self.open_to_read()? else {
            return Ok(None);
        };

        let mut from = Lines::of(&self.path, &file, self.max_line);
        let header = self.read_header(&mut from, wanted)?;

        let mut lines = Vec::new();
        while let Some(line) = from.entry()? {
            lines.push(line);
        }

        Ok(Some(RecordedRun { header, lines }))
    }

    fn open_to_read(&self) -> Result<Option<File>, StoreError> {
        let Some(folder) = self.location.open()? else {
            return Ok(None);
        };

        match folder.open_file(&self.lines, Access::Read) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(cannot_read(&self.path, error.into())),
        }
    }

    fn read_header(&self, lines: &mut Lines<'_>, wanted: &Wanted) -> Result<Header, StoreError> {
        let header = lines.header()?;
        let first_line = format!("{}, line 1", self.path.display());
        wanted.check_header(&first_line, &self.run_id, &header)?;
        Ok(header)
    }
}

/// Copies an outcome, so that it doesn't keep the lines around it in memory.
fn unshared(line: Line) -> Line {
    let entry = match line.entry {
        Entry::Outcome { step, outcome } => Entry::Outcome {
            step,
            outcome: Json::from_record(outcome.as_str()),
        },
        other => other,
    };

    Line { entry, ..line }
}
