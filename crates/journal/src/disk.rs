//! Opens a run in a store on disk, whose calls may block.

use std::ops::Range;

use async_trait::async_trait;
use cogwork_text::files::LockFile;

use crate::behind::blocking;
use crate::keep::{Keep, NewRun, Opening, RecordedRun, Take, Wanted};
use crate::{RecordedEntry, RunJournal, StoreError};

/// A run that may exist in a store on disk. All calls may block.
pub(crate) trait OnDisk: Send + 'static {
    fn run_id(&self) -> &str;

    /// Returns the path of the file, for messages.
    fn place(&self) -> String;

    /// Opens the folder of the run. Returns `None` if it doesn't exist and `create` is `false`.
    fn open(&self, create: bool) -> Result<Option<Box<dyn OpenFolder + '_>>, StoreError>;

    /// Reads the whole record, without locking the run. Returns `None` if the run doesn't exist.
    fn read(&self, wanted: &Wanted) -> Result<Option<RecordedRun>, StoreError>;

    /// Reads entries. Returns `None` if the run doesn't exist.
    fn entries(&self, range: Range<u64>) -> Result<Option<Vec<RecordedEntry>>, StoreError>;
}

/// The open folder of a run. All operations use this folder, even if a different one takes its path
/// in the meantime.
pub(crate) trait OpenFolder {
    fn is_there(&self) -> Result<bool, StoreError>;

    fn lock(&self) -> Result<LockFile, StoreError>;

    /// Records a new run.
    fn start(&self, run: NewRun, lock: LockFile) -> Result<RunJournal, StoreError>;

    /// Reads the run and checks that it is the wanted one.
    fn resume(&self, wanted: Wanted, lock: LockFile) -> Result<RunJournal, StoreError>;

    /// Removes the run.
    fn remove(&self, lock: LockFile) -> Result<(), StoreError>;
}

#[async_trait]
impl<R: OnDisk> Keep for R {
    fn place(&self) -> String {
        OnDisk::place(self)
    }

    async fn open(self: Box<Self>, take: Take) -> Result<RunJournal, StoreError> {
        blocking(OnDisk::place(&*self), move || open(&*self, take)).await
    }

    async fn is_in_use(self: Box<Self>) -> Result<bool, StoreError> {
        blocking(OnDisk::place(&*self), move || is_in_use(&*self)).await
    }

    async fn read(self: Box<Self>, wanted: Wanted) -> Result<RecordedRun, StoreError> {
        blocking(OnDisk::place(&*self), move || {
            let read = OnDisk::read(&*self, &wanted)?;
            read.ok_or_else(|| StoreError::missing(self.run_id(), &OnDisk::place(&*self)))
        })
        .await
    }

    async fn entries(self: Box<Self>, range: Range<u64>) -> Result<Vec<RecordedEntry>, StoreError> {
        blocking(OnDisk::place(&*self), move || {
            let entries = OnDisk::entries(&*self, range)?;
            entries.ok_or_else(|| StoreError::missing(self.run_id(), &OnDisk::place(&*self)))
        })
        .await
    }

    async fn remove(self: Box<Self>) -> Result<(), StoreError> {
        blocking(OnDisk::place(&*self), move || remove(&*self)).await
    }
}

fn open(run: &impl OnDisk, take: Take) -> Result<RunJournal, StoreError> {
    let starts = take.starts();
    let missing = || StoreError::missing(run.run_id(), &run.place());
    let Some(folder) = run.open(starts)? else {
        return Err(missing());
    };

    // Checked first, so that a failed lookup leaves no lock file.
    if !starts && !folder.is_there()? {
        return Err(missing());
    }

    let lock = folder.lock()?;
    let exists = folder.is_there()?;

    match take.opening(exists, run.run_id(), &run.place())? {
        Opening::Start(run) => folder.start(run, lock),
        Opening::Resume { wanted, event } => {
            let journal = folder.resume(wanted, lock)?;
            if let Some(event) = event {
                journal.check_event(&event)?;
            }

            Ok(journal)
        }
    }
}

fn is_in_use(run: &impl OnDisk) -> Result<bool, StoreError> {
    let missing = || StoreError::missing(run.run_id(), &run.place());
    let folder = run.open(false)?.ok_or_else(missing)?;
    if !folder.is_there()? {
        return Err(missing());
    }

    // Whoever opens the run at this moment waits for the lock.
    match folder.lock() {
        Ok(lock) => {
            drop(lock);
            Ok(false)
        }
        Err(error) if error.is_locked() => Ok(true),
        Err(error) => Err(error),
    }
}

fn remove(run: &impl OnDisk) -> Result<(), StoreError> {
    let missing = || StoreError::missing(run.run_id(), &run.place());
    let Some(folder) = run.open(false)? else {
        return Err(missing());
    };

    if !folder.is_there()? {
        return Err(missing());
    }

    let lock = folder.lock()?;
    if !folder.is_there()? {
        return Err(missing());
    }

    folder.remove(lock)
}
