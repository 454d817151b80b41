//! Opens the file of a run for one runner.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::Range;

use cogwork_files::{Access, Folder, LockError, LockFile};
use cogwork_flow::journal::{EntryError, Recorded};

use super::files::{Files, RunFolder};
use super::read::{Lines, cannot_read};
use super::write::{Writer, Written, cannot_write};
use crate::disk::{OnDisk, OpenFolder};
use crate::error::Kind;
use crate::header::Header;
use crate::keep::{NewRun, RecordedRun, Wanted};
use crate::line::Line;
use crate::{RecordedEntry, RunJournal, StoreError, behind, lock};

/// How often the file may be replaced while it is being locked. Whoever replaces it holds the lock
/// next.
const REPLACED: usize = 10;

impl OnDisk for Files {
    fn run_id(&self) -> &str {
        &self.run_id
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn open(&self, create: bool) -> Result<Option<Box<dyn OpenFolder + '_>>, StoreError> {
        let folder = if create {
            Some(self.location.create()?)
        } else {
            self.location.open()?
        };
        Ok(folder.map(|folder| {
            Box::new(RunFolder {
                files: self.clone(),
                folder,
            }) as Box<dyn OpenFolder>
        }))
    }

    fn read(&self, wanted: &Wanted) -> Result<Option<RecordedRun>, StoreError> {
        self.read_record(wanted)
    }

    fn entries(&self, range: Range<u64>) -> Result<Option<Vec<RecordedEntry>>, StoreError> {
        self.read_entries(range)
    }
}

impl OpenFolder for RunFolder {
    fn is_there(&self) -> Result<bool, StoreError> {
        self.folder
            .has_file(&self.files.lines)
            .map_err(|error| self.cannot_open(error))
    }

    fn lock(&self) -> Result<LockFile, StoreError> {
        lock::take(&self.folder, &self.files.lock, &self.files.run_id)
    }

    fn start(&self, run: NewRun, lock: LockFile) -> Result<RunJournal, StoreError> {
        let NewRun { header, lines } = run;
        let written = self.replace(&header, &lines)?;
        self.journal(header, lines, written, lock)
    }

    fn resume(&self, wanted: Wanted, lock: LockFile) -> Result<RunJournal, StoreError> {
        let file = self.open_locked()?;

        // Left by a crash during a fold. If it cannot be removed, the next fold reports the error.
        let _ = self.folder.remove_leftover(&self.files.new);

        let mut lines = Lines::of(&self.files.path, &file, self.files.max_line);
        let mut header = lines.header()?;
        wanted.check_header(&self.first_line(), &self.files.run_id, &header)?;

        let mut entries = Vec::new();
        while let Some(entry) = lines.entry()? {
            entries.push(entry);
        }

        let last = entries.last().map(|line| &line.entry);
        wanted.check_end(&self.files.run_id, last)?;
        let (whole, chain) = lines.finish();

        if wanted.change(&mut header) {
            let copies = entries.iter().map(|line: &Line| line.entry.clone());
            let sound = Recorded::over(self.files.run_id.as_str(), copies, ());
            sound.map_err(|problem| self.out_of_place(problem))?;
            let written = self.replace(&header, &entries)?;
            return self.journal(header, entries, written, lock);
        }

        let failed = |error| cannot_read(&self.files.path, error);
        (&file).seek(SeekFrom::Start(whole)).map_err(failed)?;
        let repaired = file.try_clone().map_err(failed)?;
        let journal = self.journal(header, entries, self.written(file, chain)?, lock)?;

        // Only after everything else was checked.
        self.repair(&repaired, whole)?;
        Ok(journal)
    }

    fn remove(&self, lock: LockFile) -> Result<(), StoreError> {
        let files = &self.files;

        // Held until the end, and read only to find out whose record it is.
        let file = self.open_locked()?;
        let header = Lines::of(&files.path, &file, files.max_line).header();
        if let Ok(header) = header {
            Wanted::Answerable.check_header(&self.first_line(), &files.run_id, &header)?;
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

        lock::remove(&self.folder, &files.lock, lock);
        Ok(())
    }
}

impl RunFolder {
    fn first_line(&self) -> String {
        format!("{}, line 1", self.files.path.display())
    }

    /// Opens and locks the file, so that nobody else writes it even if the lock file was removed.
    fn open_locked(&self) -> Result<File, StoreError> {
        let Files {
            lines,
            path,
            run_id,
            ..
        } = &self.files;

        for _ in 0..REPLACED {
            let opened = self.folder.open_file(lines, Access::Write);
            let file = opened.map_err(|error| self.cannot_open(error))?;
            match lock_lines(&self.folder, lines, &file) {
                Err(LockError::Replaced) => {}
                locked => {
                    return locked
                        .map(|()| file)
                        .map_err(|error| lock::refused(path, run_id, error));
                }
            }
        }

        Err(lock::refused(
            path,
            run_id,
            LockError::InUse { holder: None },
        ))
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
        written: Written,
        lock: LockFile,
    ) -> Result<RunJournal, StoreError> {
        let writer = Writer {
            run: self.clone(),
            header: header.clone(),
            written,
            _lock: lock,
        };

        let journal = RunJournal::new(
            self.files.place(),
            header,
            entries,
            behind::Writer::on_thread(writer),
        );
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

    fn cannot_open(&self, error: cogwork_files::Error) -> StoreError {
        StoreError::io(
            format_args!("{}: cannot be opened", self.files.path.display()),
            error.into(),
        )
    }
}

/// On platforms other than Unix, a listing could not read a locked file.
fn lock_lines(folder: &Folder, name: &str, file: &File) -> Result<(), LockError> {
    if cfg!(unix) {
        folder.lock(name, file, lock::PATIENCE)
    } else {
        Ok(())
    }
}
