//! Reads a part of the record of a run, without locking it.

use std::ops::Range;

use cogwork_files::Access;
use cogwork_flow::journal::{Entry, Json};

use super::files::Files;
use super::read::{Lines, cannot_read};
use crate::keep::Wanted;
use crate::line::Line;
use crate::{RecordedEntry, StoreError};

impl Files {
    /// Returns `None` if the run doesn't exist.
    pub(super) fn read_entries(
        &self,
        range: Range<u64>,
    ) -> Result<Option<Vec<RecordedEntry>>, StoreError> {
        let Some(folder) = self.location.open()? else {
            return Ok(None);
        };

        let file = match folder.open_file(&self.lines, Access::Read) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(cannot_read(&self.path, error.into())),
        };

        let mut lines = Lines::of(&self.path, &file, self.max_line);
        let header = lines.header()?;
        let first_line = format!("{}, line 1", self.path.display());
        Wanted::Answerable.check_header(&first_line, &self.run_id, &header)?;

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
