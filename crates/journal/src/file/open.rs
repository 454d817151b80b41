//! Opens the file of a run for one runner.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::Range;

use cogwork_flow::journal::EntryError;
use cogwork_text::files::{Access, Folder, LockFile};

use super::read::{Lines, cannot_read};
use super::write::{Writer, cannot_write};
use super::{Files, RunFolder};
use crate::disk::OnDisk;
use crate::error::Kind;
use crate::header::Header;
use crate::keep::{NewRun, RecordedRun, Wanted};
use crate::line::{Line, check_order};
use crate::{RecordedEntry, RunJournal, StoreError};

impl OnDisk for Files {
    fn run_id(&self) -> &str {
        &self.run_id
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn folder(&self, create: bool) -> Result<Option<Folder>, StoreError> {
        self.location.get(create)
    }

    fn lock_name(&self) -> &str {
        &self.lock
    }

    fn is_there(&self, folder: &Folder) -> Result<bool, StoreError> {
        let is_there = folder.has_file(&self.lines);
        is_there.map_err(|error| self.cannot_open(error))
    }

    fn start(&self, folder: Folder, run: NewRun, lock: LockFile) -> Result<RunJournal, StoreError> {
        let NewRun { header, lines } = run;
        let run = self.within(folder);
        let file = run.replace(&header, &lines)?;
        run.journal(header, lines, file, lock)
    }

    fn resume(
        &self,
        folder: Folder,
        wanted: Wanted,
        lock: LockFile,
    ) -> Result<RunJournal, StoreError> {
        self.within(folder).resume(wanted, lock)
    }

    fn remove(&self, folder: Folder) -> Result<(), StoreError> {
        self.within(folder).remove()
    }

    fn read(&self, wanted: &Wanted) -> Result<Option<RecordedRun>, StoreError> {
        self.read_record(wanted)
    }

    fn entries(&self, range: Range<u64>) -> Result<Option<Vec<RecordedEntry>>, StoreError> {
        self.read_entries(range)
    }
}

impl Files {
    fn within(&self, folder: Folder) -> RunFolder {
        RunFolder {
            files: self.clone(),
            folder,
        }
    }

    fn cannot_open(&self, error: cogwork_text::files::Error) -> StoreError {
        StoreError::io(
            format_args!("{}: cannot be opened", self.path.display()),
            error.into(),
        )
    }
}

impl RunFolder {
    fn resume(&self, wanted: Wanted, lock: LockFile) -> Result<RunJournal, StoreError> {
        let file = self.open_to_write()?;

        // Left by a crash during a fold. If it cannot be removed, the next fold reports the error.
        let _ = self.folder.remove_leftover(&self.files.new);

        let mut lines = Lines::of(&self.files.path, &file, self.files.max_line);
        let mut header = self.files.read_header(&mut lines, &wanted)?;
        let entries = lines.rest()?;

        let last = entries.last().map(|line| &line.entry);
        wanted.check_end(&self.files.run_id, last)?;
        let whole = lines.finish();

        if wanted.change(&mut header) {
            check_order(&entries).map_err(|problem| self.out_of_place(problem))?;
            let file = self.replace(&header, &entries)?;
            return self.journal(header, entries, file, lock);
        }

        let failed = |error| cannot_read(&self.files.path, error);
        (&file).seek(SeekFrom::Start(whole)).map_err(failed)?;
        let repaired = file.try_clone().map_err(failed)?;
        let journal = self.journal(header, entries, file, lock)?;

        // Only after everything else was checked.
        self.repair(&repaired, whole)?;
        Ok(journal)
    }

    fn remove(&self) -> Result<(), StoreError> {
        let files = &self.files;

        // A damaged run can be removed, but not a different one.
        let file = self.open_to_write()?;
        let header = Lines::of(&files.path, &file, files.max_line).header();
        if let Ok(header) = header {
            let first_line = format!("{}, line 1", files.path.display());
            Wanted::Answerable.check_header(&first_line, &files.run_id, &header)?;
        }

        let _ = self.folder.remove_leftover(&files.new);
        let removed = self.folder.remove_file(&files.lines);
        removed.map_err(|error| {
            let path = files.path.display();
            StoreError::io(format_args!("{path}: cannot be removed"), error.into())
        })?;

        if files.sync {
            self.sync_folder()?;
        }

        Ok(())
    }

    fn open_to_write(&self) -> Result<File, StoreError> {
        self.folder
            .open_file(&self.files.lines, Access::Write)
            .map_err(|error| self.files.cannot_open(error))
    }

    /// Removes incomplete lines.
    fn repair(&self, file: &File, whole: u64) -> Result<(), StoreError> {
        let failed = |error| cannot_write(&self.files.path, error);

        if file.metadata().map_err(failed)?.len() > whole {
            file.set_len(whole).map_err(failed)?;
        }

        if self.files.sync {
            // A process that was killed may have left lines that aren't on disk yet.
            file.sync_data().map_err(failed)?;
        }

        Ok(())
    }

    fn journal(
        &self,
        header: Header,
        entries: Vec<Line>,
        file: File,
        lock: LockFile,
    ) -> Result<RunJournal, StoreError> {
        let writer = Writer {
            run: self.clone(),
            header: header.clone(),
            file,
            _lock: lock,
        };

        let journal = RunJournal::new(self.files.place(), header, entries, writer);
        journal.map_err(|problem| self.out_of_place(problem))
    }

    fn out_of_place(&self, error: EntryError) -> StoreError {
        let path = self.files.path.display();
        let EntryError { index, problem, .. } = error;

        // The first line is the header, and lines are counted from 1.
        let number = index + 2;
        StoreError::new(
            Kind::Damaged,
            format_args!("{path}, line {number}: {problem}"),
        )
    }
}
