//! An open memory file.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::time::Duration;

use cogwork_files::{Access, LockFile};
use cogwork_read::charge;

use super::kept::Kept;
use super::lines::{Lines, SPARE, line, most_bytes};
use super::place::Place;
use crate::memory::words::Items;
use crate::memory::{MemoryError, MemoryLimits};

/// How long to wait for a lock that is about to be released.
const PATIENCE: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct Open {
    place: Place,
    /// Locked as well, because the lock file may be removed by hand.
    file: File,
    _lock: LockFile,
    /// The number of lines in the file, including forgotten items.
    count: usize,
    /// The end of the last complete line.
    end: u64,
    kept: Kept,
    /// The size at which a rewrite that has failed is tried again.
    retry_at: u64,
}

impl Open {
    pub(super) fn take(place: Place, limits: MemoryLimits) -> Result<(Self, Items), MemoryError> {
        // Before creating a lock file for something that isn't a memory file.
        place.check()?;

        let lock_name = place.lock_name();
        let lock = LockFile::lock_within(&place.folder, &lock_name, PATIENCE)
            .map_err(|error| place.lock_error(&lock_name, error))?;
        let failed = |source| place.error(source);
        let file = place
            .folder
            .open_or_create(&place.name, Access::Append)
            .map_err(failed)?;

        place
            .folder
            .lock(&place.name, &file, PATIENCE)
            .map_err(|error| place.lock_error(&place.name, error))?;
        place.folder.remove_leftovers(&place.name).map_err(failed)?;

        check_size(&file, &place, limits)?;
        let lines = Lines::read(&file, &place, limits)?;
        let open = Self {
            place,
            file,
            _lock: lock,
            count: lines.count,
            end: lines.end,
            kept: lines.kept,
            retry_at: 0,
        };

        Ok((open, lines.items))
    }

    /// Appends the line of an item.
    pub(super) fn append(&mut self, line: &[u8]) -> Result<(), MemoryError> {
        self.write(line)
            .map_err(|source| self.place.error(source))?;

        // Checked after the write, which may have gone to a file that was deleted.
        self.must_be_there()
    }

    pub(super) fn line(&self, text: &str) -> Result<Vec<u8>, MemoryError> {
        line(text).map_err(|source| self.place.error(source))
    }

    /// Returns whether the file can be opened again after a line of this size is appended.
    pub(super) fn has_room(&self, line: &[u8], limits: MemoryLimits) -> bool {
        self.end.saturating_add(line.len() as u64) <= most_bytes(limits)
    }

    /// Rewrites the file for a line that has no room. Files only become so large if rewriting has
    /// failed before.
    pub(super) fn make_room(
        &mut self,
        line: &[u8],
        kept: &[Arc<str>],
        limits: MemoryLimits,
    ) -> Result<(), MemoryError> {
        // Another file in its place must not be replaced.
        self.must_be_there()?;

        match self.rewrite(kept) {
            Err(source) if !self.has_room(line, limits) => Err(MemoryError::Full {
                path: self.place.path(),
                source,
            }),
            _ => Ok(()),
        }
    }

    /// Notes that an item with a line of this size was appended, and how many items are kept.
    pub(super) fn keep(&mut self, bytes: u64, items: usize) {
        self.kept.push(bytes, items);
    }

    /// Returns whether the file is about twice as long as what is kept. As a rewrite removes at
    /// least as much as it writes, all rewrites write at most as much as was appended.
    pub(super) fn is_long(&self, limits: MemoryLimits) -> bool {
        let is_long = self.count >= limits.items().saturating_mul(2)
            || self.end > 2 * self.kept.bytes() + SPARE;
        is_long && self.end >= self.retry_at
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.file.seek(SeekFrom::End(0))? != self.end {
            self.file.set_len(self.end)?;
        }

        charge(line.len());
        self.file.write_all(line)?;
        self.end += line.len() as u64;
        self.count += 1;

        Ok(())
    }

    fn must_be_there(&self) -> Result<(), MemoryError> {
        let is_there = self.place.folder.holds(&self.place.name, &self.file);
        if is_there.map_err(|source| self.place.error(source))? {
            return Ok(());
        }

        Err(MemoryError::Lost {
            path: self.place.path(),
        })
    }

    /// Replaces the file by one that contains only the items that are kept. After an error, the
    /// file isn't [long](Self::is_long) until as much as is kept is appended.
    pub(super) fn rewrite(&mut self, kept: &[Arc<str>]) -> io::Result<()> {
        let replaced = self.replace(kept);
        self.retry_at = match &replaced {
            Ok(()) => 0,
            Err(_) => self.end + self.kept.bytes().max(SPARE),
        };

        replaced
    }

    fn replace(&mut self, kept: &[Arc<str>]) -> io::Result<()> {
        let lines: Vec<_> = kept
            .iter()
            .map(|text| line(text))
            .collect::<io::Result<_>>()?;
        let whole = lines.concat();

        let mut new = self.place.folder.temporary(&self.place.name)?;

        // Locked before the file gets its name, so that no other process can lock it first.
        new.file().try_lock()?;
        charge(whole.len());
        new.write_all(&whole)?;
        new.file().sync_all()?;

        self.file = new.put_in_place()?;
        self.count = kept.len();
        self.end = whole.len() as u64;
        self.place.folder.sync()?;

        Ok(())
    }
}

fn check_size(file: &File, place: &Place, limits: MemoryLimits) -> Result<(), MemoryError> {
    let most = most_bytes(limits);
    let bytes = file.metadata().map_err(|source| place.error(source))?.len();
    if bytes <= most {
        return Ok(());
    }

    Err(MemoryError::TooLong {
        what: format!("the memory file {}", place.path()),
        bytes,
        most,
    })
}
