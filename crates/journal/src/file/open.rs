//! Opening the file of a run, so that it is ours.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};

use cogwork_flow::{Entry, Recorded};

use super::line::Chain;
use super::lock::Lock;
use super::read::{Lines, cannot_read};
use super::write::{Files, Writer, cannot_write};
use crate::behind::blocking;
use crate::error::Kind;
use crate::header::{FlowIs, Header};
use crate::{RunJournal, StoreError, quote};

/// What to do with a run that is there, or is not.
pub(super) enum Take {
    Start(Header),
    Resume(FlowIs),
    Either(Header, FlowIs),
    Changed(FlowIs),
    Deliver,
}

pub(super) async fn open(files: Files, take: Take) -> Result<RunJournal, StoreError> {
    blocking(files.place(), move || files.open(take)).await
}

impl Files {
    /// The run, locked.
    fn open(self, take: Take) -> Result<RunJournal, StoreError> {
        if matches!(take, Take::Start(_) | Take::Either(..)) {
            self.make_folder()?;
        } else if !self.is_there()? {
            // Looked at first, so that asking for a run leaves no lock file.
            return Err(self.missing());
        }
        let lock = Lock::take(&self.lock, &self.run_id)?;
        // What a crash in the middle of a fold left.
        let _ = std::fs::remove_file(&self.new);
        match (take, self.is_there()?) {
            (Take::Start(header) | Take::Either(header, _), false) => {
                let (file, chain) = self.replace(&header, &[])?;
                self.journal(header, Vec::new(), (file, chain), lock)
            }
            (_, false) => Err(self.missing()),
            (Take::Start(_), true) => {
                let (run_id, path) = (quote::name(&self.run_id), self.path.display());
                Err(StoreError::new(
                    Kind::AlreadyThere,
                    format_args!(
                        "the run `{run_id}` is there already, in {path}: resume it, or take another id"
                    ),
                ))
            }
            (Take::Resume(flow) | Take::Either(_, flow), true) => self.resume(lock, Some(flow), false),
            (Take::Changed(flow), true) => self.resume(lock, Some(flow), true),
            (Take::Deliver, true) => self.resume(lock, None, false),
        }
    }

    fn resume(self, lock: Lock, flow: Option<FlowIs>, may_change: bool) -> Result<RunJournal, StoreError> {
        let failed = |error| cannot_read(&self.path, error);
        let mut file = OpenOptions::new().read(true).write(true).open(&self.path).map_err(failed)?;
        let mut lines = Lines::of(&self.path, &file, self.max_line);
        let mut header = lines.header()?;
        if header.run_id != self.run_id {
            let (path, run_id, other) =
                (self.path.display(), quote::name(&self.run_id), quote::name(&header.run_id));
            return Err(StoreError::new(
                Kind::Damaged,
                format_args!("{path}, line 1: this is the run `{other}`, not `{run_id}`"),
            ));
        }
        let first = format!("{}, line 1", self.path.display());
        if let Some(flow) = &flow {
            header.check_name(&first, flow)?;
            if !may_change {
                header.check_shape(&first, flow)?;
            }
        }
        let mut entries = Vec::new();
        while let Some(entry) = lines.entry()? {
            if flow.is_none() && matches!(entry, Entry::Ended { .. }) {
                return Err(StoreError::ended(&self.run_id));
            }
            entries.push(entry);
        }
        let (whole, chain) = lines.end();
        if flow.is_some_and(|flow| header.take_shape(flow)) {
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
        Ok(journal)
    }

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
        let (path, problem) = (self.path.display(), quote::Quoted(&problem, 300).to_string());
        StoreError::new(Kind::Damaged, format_args!("{path}, line {}: {problem}", index + 2))
    }

    fn is_there(&self) -> Result<bool, StoreError> {
        self.path.try_exists().map_err(|error| cannot_read(&self.path, error))
    }

    fn missing(&self) -> StoreError {
        let (run_id, path) = (quote::name(&self.run_id), self.path.display());
        StoreError::new(Kind::Missing, format_args!("there is no run `{run_id}`: its file would be {path}"))
    }
}
