//! Opening the file of a run, so that it is ours.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::path::Path;

use cogwork_flow::{Entry, Recorded};

use super::read::{Lines, cannot_read};
use super::write::{Files, Writer, cannot_write};
use crate::error::Kind;
use crate::header::Header;
use crate::keep::{Keep, Wanted};
use crate::line::Chain;
use crate::lock::Lock;
use crate::{RunJournal, StoreError};

impl Keep for Files {
    fn run_id(&self) -> &str {
        &self.run_id
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn make_room(&self) -> Result<(), StoreError> {
        self.make_folder()
    }

    fn lock(&self) -> &Path {
        &self.lock
    }

    fn is_there(&self) -> Result<bool, StoreError> {
        self.path.try_exists().map_err(|error| cannot_read(&self.path, error))
    }

    fn start(&self, header: Header, lock: Lock) -> Result<RunJournal, StoreError> {
        let written = self.replace(&header, &[])?;
        self.journal(header, Vec::new(), written, lock)
    }

    fn resume(&self, wanted: Wanted, lock: Lock) -> Result<RunJournal, StoreError> {
        // What a crash in the middle of a fold left.
        let _ = std::fs::remove_file(&self.new);
        let failed = |error| cannot_read(&self.path, error);
        let mut file = OpenOptions::new().read(true).write(true).open(&self.path).map_err(failed)?;
        let mut lines = Lines::of(&self.path, &file, self.max_line);
        let mut header = lines.header()?;
        wanted.check_header(&format!("{}, line 1", self.path.display()), &self.run_id, &header)?;
        let mut entries = Vec::new();
        while let Some(entry) = lines.entry()? {
            entries.push(entry);
        }
        wanted.check_end(&self.run_id, entries.last())?;
        let (whole, chain) = lines.end();
        if wanted.change(&mut header) {
            let sound = Recorded::over(self.run_id.as_str(), entries.clone(), ());
            sound.map_err(|problem| self.out_of_place(problem))?;
            let written = self.replace(&header, &entries)?;
            return self.journal(header, entries, written, lock);
        }
        file.seek(SeekFrom::Start(whole)).map_err(failed)?;
        let repaired = file.try_clone().map_err(failed)?;
        let journal = self.journal(header, entries, (file, chain), lock)?;
        // Now that all the rest is known to be sound.
        if repaired.metadata().map_err(failed)?.len() > whole {
            repaired.set_len(whole).map_err(|error| cannot_write(&self.path, error))?;
        }
        if self.sync {
            // A process that was killed may have left lines that are not on the disk yet.
            repaired.sync_data().map_err(|error| cannot_write(&self.path, error))?;
        }
        Ok(journal)
    }
}

impl Files {
    fn journal(
        &self,
        header: Header,
        entries: Vec<Entry>,
        (file, chain): (File, Chain),
        lock: Lock,
    ) -> Result<RunJournal, StoreError> {
        let writer = Writer { files: self.clone(), header: header.clone(), file, chain, _lock: lock };
        let journal = RunJournal::new(self.place(), header, entries, writer);
        journal.map_err(|problem| self.out_of_place(problem))
    }

    fn out_of_place(&self, (index, problem): (usize, String)) -> StoreError {
        let path = self.path.display();
        StoreError::new(Kind::Damaged, format_args!("{path}, line {}: {problem}", index + 2))
    }
}
