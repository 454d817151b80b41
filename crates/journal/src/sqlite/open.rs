//! Opens a run in a database for one runner.

use std::ops::Range;

use cogwork_text::files::{Folder, LockFile};

use super::run::Run;
use super::write::Writer;
use crate::behind::Edit;
use crate::disk::OnDisk;
use crate::header::Header;
use crate::keep::{NewRun, RecordedRun, Wanted};
use crate::line::{Line, check_order};
use crate::{RecordedEntry, RunJournal, StoreError};

impl OnDisk for Run {
    fn run_id(&self) -> &str {
        &self.place.run_id
    }

    fn place(&self) -> String {
        self.database.place()
    }

    fn folder(&self, create: bool) -> Result<Option<Folder>, StoreError> {
        self.database.connector.locks.get(create)
    }

    fn lock_name(&self) -> &str {
        &self.lock
    }

    fn is_there(&self, _: &Folder) -> Result<bool, StoreError> {
        let found = self.database.read(|reader| {
            let mut find = reader.prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?;
            Ok(find.exists([&self.place.run_id])?)
        });

        Ok(found?.unwrap_or(false))
    }

    fn start(&self, _: Folder, run: NewRun, lock: LockFile) -> Result<RunJournal, StoreError> {
        let writer = Writer::start(self.clone(), run.clone(), lock)?;
        self.journal(run.header, run.lines, writer)
    }

    fn resume(&self, _: Folder, wanted: Wanted, lock: LockFile) -> Result<RunJournal, StoreError> {
        let read = self.database.read(|reader| self.read(reader, &wanted))?;

        let missing = || StoreError::missing(&self.place.run_id, &self.place.database);
        let mut read = read.flatten().ok_or_else(missing)?;
        let changed = wanted.change(&mut read.record.header);
        let mut writer = Writer::resume(self.clone(), &read, lock);
        let RecordedRun { header, lines } = read.record;

        if changed {
            check_order(&lines).map_err(|error| self.place.out_of_place(error))?;
            writer.put(Edit::replace(lines.clone()))?;
        }

        self.journal(header, lines, writer)
    }

    fn remove(&self, _: Folder) -> Result<(), StoreError> {
        self.database.remove(self.place.run_id.clone())
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

impl Run {
    fn journal(
        &self,
        header: Header,
        entries: Vec<Line>,
        writer: Writer,
    ) -> Result<RunJournal, StoreError> {
        let journal = RunJournal::new(self.database.place(), header, entries, writer);
        journal.map_err(|error| self.place.out_of_place(error))
    }
}
