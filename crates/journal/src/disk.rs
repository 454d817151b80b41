//! Opens a run in a store on disk, whose calls may block.

use std::ops::Range;

use async_trait::async_trait;
use cogwork_text::files::{Folder, LockFile};

use crate::behind::blocking;
use crate::keep::{Keep, NewRun, Opening, RecordedRun, Take, Wanted};
use crate::{RecordedEntry, RunJournal, StoreError, lock};

/// A run that may exist in a store on disk. All calls may block. Those with a folder use it even if a
/// different one takes its path in the meantime.
pub(crate) trait OnDisk: Send + 'static {
    fn run_id(&self) -> &str;

    /// Returns the path of the file, for messages.
    fn place(&self) -> String;

    /// Opens the folder with the lock of the run. Returns `None` if it doesn't exist and `create` is
    /// `false`.
    fn folder(&self, create: bool) -> Result<Option<Folder>, StoreError>;

    /// Returns the name of the lock file.
    fn lock_name(&self) -> &str;

    fn is_there(&self, folder: &Folder) -> Result<bool, StoreError>;

    /// Records a new run.
    fn start(&self, folder: Folder, run: NewRun, lock: LockFile) -> Result<RunJournal, StoreError>;

    /// Reads the run and checks that it is the wanted one.
    fn resume(
        &self,
        folder: Folder,
        wanted: Wanted,
        lock: LockFile,
    ) -> Result<RunJournal, StoreError>;

    /// Removes the run, which is locked.
    fn remove(&self, folder: Folder) -> Result<(), StoreError>;

    /// Reads the whole record, without locking the run. Returns `None` if the run doesn't exist.
    fn read(&self, wanted: &Wanted) -> Result<Option<RecordedRun>, StoreError>;

    /// Reads entries. Returns `None` if the run doesn't exist.
    fn entries(&self, range: Range<u64>) -> Result<Option<Vec<RecordedEntry>>, StoreError>;
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
            read.ok_or_else(|| missing(&*self))
        })
        .await
    }

    async fn entries(self: Box<Self>, range: Range<u64>) -> Result<Vec<RecordedEntry>, StoreError> {
        blocking(OnDisk::place(&*self), move || {
            let entries = OnDisk::entries(&*self, range)?;
            entries.ok_or_else(|| missing(&*self))
        })
        .await
    }

    async fn remove(self: Box<Self>) -> Result<(), StoreError> {
        blocking(OnDisk::place(&*self), move || remove(&*self)).await
    }
}

fn open(run: &impl OnDisk, take: Take) -> Result<RunJournal, StoreError> {
    // A failed lookup leaves no lock file.
    let folder = match take.start {
        Some(_) => run.folder(true)?.ok_or_else(|| missing(run))?,
        None => existing(run)?,
    };

    let lock = take_lock(run, &folder)?;
    let exists = run.is_there(&folder)?;

    match take.opening(exists, run.run_id(), &run.place())? {
        Opening::Start(new) => run.start(folder, new, lock),
        Opening::Resume(wanted) => run.resume(folder, wanted, lock),
    }
}

fn is_in_use(run: &impl OnDisk) -> Result<bool, StoreError> {
    let folder = existing(run)?;

    // Whoever opens the run at this moment waits for the lock.
    match take_lock(run, &folder) {
        Ok(lock) => {
            drop(lock);
            Ok(false)
        }
        Err(error) if error.is_locked() => Ok(true),
        Err(error) => Err(error),
    }
}

fn remove(run: &impl OnDisk) -> Result<(), StoreError> {
    let folder = existing(run)?;
    let lock = take_lock(run, &folder)?;
    if !run.is_there(&folder)? {
        return Err(missing(run));
    }

    run.remove(folder.clone())?;
    lock::remove(&folder, run.lock_name(), lock);
    Ok(())
}

/// Opens the folder of a run that exists.
fn existing(run: &impl OnDisk) -> Result<Folder, StoreError> {
    let folder = run.folder(false)?.ok_or_else(|| missing(run))?;
    if run.is_there(&folder)? {
        return Ok(folder);
    }

    Err(missing(run))
}

fn take_lock(run: &impl OnDisk, folder: &Folder) -> Result<LockFile, StoreError> {
    lock::take(folder, run.lock_name(), run.run_id())
}

fn missing(run: &impl OnDisk) -> StoreError {
    StoreError::missing(run.run_id(), &run.place())
}
