//! Opens a run in a database for one runner.

use std::ops::Range;

use cogwork_flow::journal::Recorded;
use cogwork_text::Name;
use cogwork_text::files::{Folder, LockFile};

use super::run::Run;
use super::write::Writer;
use crate::behind::{self, Edit};
use crate::disk::{OnDisk, OpenFolder};
use crate::error::Kind;
use crate::header::Header;
use crate::keep::{NewRun, RecordedRun, Wanted};
use crate::line::Line;
use crate::{RecordedEntry, RunJournal, StoreError, lock};

impl OnDisk for Run {
    fn run_id(&self) -> &str {
        &self.place.run_id
    }

    fn place(&self) -> String {
        self.database.place()
    }

    fn open(&self, create: bool) -> Result<Option<Box<dyn OpenFolder + '_>>, StoreError> {
        let connector = &self.database.connector;
        let locks = if create {
            Some(connector.create_locks()?)
        } else {
            connector.locks()?
        };

        Ok(locks.map(|locks| Box::new(RunFolder { run: self, locks }) as Box<dyn OpenFolder>))
    }

    fn read(&self, wanted: &Wanted) -> Result<Option<RecordedRun>, StoreError> {
        let read = self.database.read(|reader| {
            // The run may be in use, and its lines have to be of the same time as its row.
            let at_once = reader.unchecked_transaction()?;
            self.read(&at_once, wanted)
        });

        let read = read?.flatten();
        Ok(read.map(|read| read.record))
    }

    fn entries(&self, range: Range<u64>) -> Result<Option<Vec<RecordedEntry>>, StoreError> {
        let read = self
            .database
            .read(|reader| self.read_entries(reader, &range));
        Ok(read?.flatten())
    }
}

/// A run, and the folder of its lock.
struct RunFolder<'a> {
    run: &'a Run,
    locks: Folder,
}

impl OpenFolder for RunFolder<'_> {
    fn is_there(&self) -> Result<bool, StoreError> {
        let found = self.run.database.read(|reader| {
            let mut find = reader.prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?;
            Ok(find.exists([&self.run.place.run_id])?)
        });

        Ok(found?.unwrap_or(false))
    }

    fn lock(&self) -> Result<LockFile, StoreError> {
        lock::take(&self.locks, &self.run.lock, &self.run.place.run_id)
    }

    fn start(&self, run: NewRun, lock: LockFile) -> Result<RunJournal, StoreError> {
        let writer = Writer::start(self.run.clone(), run.clone(), lock)?;
        self.journal(run.header, run.lines, writer)
    }

    fn resume(&self, wanted: Wanted, lock: LockFile) -> Result<RunJournal, StoreError> {
        let run = self.run;
        let read = run.database.read(|reader| run.read(reader, &wanted))?;

        let Some(mut read) = read.flatten() else {
            let run_id = Name(&run.place.run_id);
            let place = &run.place.database;
            return Err(StoreError::new(
                Kind::Missing,
                format_args!("{place}: the run `{run_id}` is gone"),
            ));
        };

        let changed = wanted.change(&mut read.record.header);
        let mut writer = Writer::resume(run.clone(), &read, lock);
        let RecordedRun { header, lines } = read.record;

        if changed {
            let copies = lines.iter().map(|line| line.entry.clone());
            let sound = Recorded::over(run.place.run_id.as_str(), copies, ());
            sound.map_err(|error| run.place.out_of_place(error))?;
            writer.put(Edit::replace(lines.clone()))?;
        }

        self.journal(header, lines, writer)
    }

    fn remove(&self, lock: LockFile) -> Result<(), StoreError> {
        let run = self.run;
        let run_id = run.place.run_id.clone();
        run.database.remove(run_id)?;

        lock::remove(&self.locks, &run.lock, lock);
        Ok(())
    }
}

impl RunFolder<'_> {
    fn journal(
        &self,
        header: Header,
        entries: Vec<Line>,
        writer: Writer,
    ) -> Result<RunJournal, StoreError> {
        let journal = RunJournal::new(
            self.run.database.place(),
            header,
            entries,
            behind::Writer::on_thread(writer),
        );
        journal.map_err(|error| self.run.place.out_of_place(error))
    }
}
