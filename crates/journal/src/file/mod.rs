//! A file for each run.

mod lines;
mod run;

use std::io::{self, BufRead, BufReader, Read as _, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use cogwork_text::files::{Access, Folder, safe_name};
use percent_encoding::percent_decode_str;

use self::run::FileRun;
use crate::backend::{Backend, EVENTS_PART, Expected, Taken, TextLine, blocking};
use crate::header::Header;
use crate::read::{Reader, parse};
use crate::summary::Standing;
use crate::{EventLine, RunQuery, RunStatus, RunSummary, StoreError, lock};

/// The ending of the file of each run.
const LINES: &str = ".jsonl";
const EVENTS: &str = ".events";
const LOCK: &str = ".lock";
/// Of the file that replaces the lines once it is complete. Its name is fixed, so that leftovers of a
/// crash are found.
const NEW: &str = ".new";

fn name(run_id: &str, ending: &str) -> String {
    safe_name(run_id) + ending
}

/// Returns the run id for which a file of lines has its name.
fn id_of(name: &str) -> String {
    let name = name.strip_suffix(LINES).unwrap_or(name);
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

/// A folder with a file for each run.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    folder: PathBuf,
}

impl Files {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, run_id: &str) -> PathBuf {
        self.folder.join(name(run_id, LINES))
    }

    /// Opens the folder. Returns `None` if it doesn't exist.
    fn open(&self) -> Result<Option<Folder>, StoreError> {
        match Folder::open(&self.folder) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(failed(&self.folder, "opened")(error.into())),
        }
    }

    /// Opens the folder of a run that exists.
    fn existing(&self, run_id: &str) -> Result<Option<Folder>, StoreError> {
        let Some(folder) = self.open()? else {
            return Ok(None);
        };

        let exists = folder.has_file(name(run_id, LINES));
        let exists = exists.map_err(|error| failed(&self.path(run_id), "opened")(error.into()))?;
        Ok(exists.then_some(folder))
    }

    fn take_now(&self, run_id: &str, expected: Expected) -> Result<Option<Taken>, StoreError> {
        // A failed lookup leaves no lock file.
        let folder = match expected {
            Expected::Existing => self.existing(run_id)?,
            Expected::New | Expected::Either => Some(lock::create(&self.folder)?),
        };
        let Some(folder) = folder else {
            return Ok(None);
        };

        let lock = lock::take(&folder, &name(run_id, LOCK), run_id)?;
        // Left by a crash during a fold. If it cannot be removed, the next fold reports the error.
        let _ = folder.remove_leftover(name(run_id, NEW));
        let mut taken = FileRun::new(run_id, folder, lock);
        // Looked up again under the lock: the run may have been started or removed meanwhile.
        let lines = match self.existing(run_id)? {
            Some(_) if expected == Expected::New => {
                return Err(StoreError::already_there(run_id, &self.run_place(run_id)));
            }
            Some(_) => taken.read()?,
            None => Vec::new(),
        };

        Ok(Some(Taken {
            held: taken.held(),
            lines,
            offered: Vec::new(),
            now: None,
        }))
    }

    fn read_now(
        &self,
        run_id: &str,
        numbers: &Range<u64>,
    ) -> Result<Option<Vec<TextLine>>, StoreError> {
        let Some(folder) = self.existing(run_id)? else {
            return Ok(None);
        };

        let path = self.path(run_id);
        let bytes = contents(&folder, &name(run_id, LINES)).map_err(failed(&path, "read"))?;
        // The lines before them are read as well, because nothing says where a line begins.
        let read = lines::read(&path, &bytes, numbers.end - 1);
        if let Some(damage) = read.damage {
            return Err(damage);
        }
        if let Some(header) = read.lines.first() {
            // It must be a record of this run, whatever part of it is wanted.
            self.reader(run_id).header(header)?;
        }

        let skipped = usize::try_from(numbers.start - 1).unwrap_or(usize::MAX);
        Ok(Some(read.lines.into_iter().skip(skipped).collect()))
    }

    fn remove_now(&self, run_id: &str) -> Result<bool, StoreError> {
        let Some(folder) = self.existing(run_id)? else {
            return Ok(false);
        };
        let lock = lock::take(&folder, &name(run_id, LOCK), run_id)?;
        // Another process may have removed it before this one had the lock.
        if self.existing(run_id)?.is_none() {
            return Ok(false);
        }

        let _ = folder.remove_leftover(name(run_id, NEW));
        let remove = |ending| match folder.remove_file(name(run_id, ending)) {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        };
        // In this order: after a crash in between, the run still exists and can be removed again.
        let removed = remove(EVENTS).and_then(|()| remove(LINES));
        // Otherwise, the files might be there again after a power cut.
        let removed = removed.and_then(|()| folder.sync());
        removed.map_err(|error| failed(&self.path(run_id), "removed")(error.into()))?;

        lock::remove(&folder, &name(run_id, LOCK), lock);
        Ok(true)
    }

    fn list_now(&self, query: &RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        let Some(folder) = self.open()? else {
            return Ok(Vec::new());
        };

        // A run has a file with a known name, so the others needn't be read.
        let names = match query.only_run() {
            Some(run_id) if self.existing(run_id)?.is_none() => return Ok(Vec::new()),
            Some(run_id) => vec![name(run_id, LINES).into()],
            None => folder
                .names()
                .map_err(|error| failed(&self.folder, "read")(error.into()))?,
        };
        // All names of records are ASCII, so any other name isn't that of a run.
        let names = names.iter().filter_map(|name| name.to_str());
        let runs = names.filter(|name| name.ends_with(LINES));
        let runs = runs.map(|name| self.summary(&folder, name)).collect();
        Ok(query.select(runs))
    }

    /// Returns the summary of the run in a file. The part before any damage counts.
    fn summary(&self, folder: &Folder, name: &str) -> RunSummary {
        let path = self.folder.join(name);
        let damaged = |error: StoreError| RunStatus::Damaged {
            error: error.to_string(),
        };
        let unreadable = |error| RunSummary {
            run_id: id_of(name),
            flow: String::new(),
            fork: None,
            started: UNIX_EPOCH,
            updated: None,
            entries: 0,
            status: damaged(error),
        };

        let bytes = match contents(folder, name) {
            Ok(bytes) => bytes,
            Err(error) => return unreadable(failed(&path, "read")(error)),
        };
        let read = lines::read(&path, &bytes, u64::MAX);
        let mut damage = read.damage;
        let Some((first, lines)) = read.lines.split_first() else {
            return unreadable(
                damage.unwrap_or_else(|| failed(&path, "read")(io::ErrorKind::InvalidData.into())),
            );
        };
        let place = format!("{}, line 1", path.display());
        let header: Header = match parse(&place, &first.text) {
            Ok(header) => header,
            Err(error) => return unreadable(error),
        };

        let mut standing = Standing::default();
        let mut updated = Some(header.started);
        let reader = self.reader(&header.run_id);
        for (number, line) in (2..).zip(lines) {
            match reader.entry(number, line) {
                Ok(read) => standing.add(&read.entry),
                Err(error) => {
                    damage = Some(error);
                    break;
                }
            }
            updated = line.at;
        }

        let mut summary = standing.summary(header.clone(), updated);
        if let Some(error) = damage {
            summary.status = damaged(error);
        }
        summary
    }

    fn reader<'a>(&'a self, run_id: &'a str) -> Reader<'a> {
        Reader {
            backend: self,
            run_id,
        }
    }

    /// Does blocking work.
    async fn run<T: Send + 'static>(
        &self,
        run_id: &str,
        work: impl FnOnce(&Self, &str) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let files = self.clone();
        let run_id = run_id.to_owned();
        blocking(self.run_place(&run_id), move || work(&files, &run_id)).await
    }
}

#[async_trait]
impl Backend for Files {
    fn place(&self) -> String {
        self.folder.display().to_string()
    }

    fn run_place(&self, run_id: &str) -> String {
        self.path(run_id).display().to_string()
    }

    fn line_place(&self, run_id: &str, number: u64) -> String {
        format!("{}, line {number}", self.path(run_id).display())
    }

    async fn take(&self, run_id: &str, expected: Expected) -> Result<Option<Taken>, StoreError> {
        let take = move |files: &Self, run_id: &str| files.take_now(run_id, expected);
        self.run(run_id, take).await
    }

    async fn read(
        &self,
        run_id: &str,
        numbers: Range<u64>,
    ) -> Result<Option<Vec<TextLine>>, StoreError> {
        let read = move |files: &Self, run_id: &str| files.read_now(run_id, &numbers);
        self.run(run_id, read).await
    }

    async fn read_events(
        &self,
        run_id: &str,
        from: u64,
    ) -> Result<Option<Vec<EventLine>>, StoreError> {
        let read = move |files: &Self, run_id: &str| {
            let Some(folder) = files.existing(run_id)? else {
                return Ok(None);
            };
            let name = name(run_id, EVENTS);
            let read = read_events(&folder, &name, from);
            read.map(Some)
                .map_err(failed(&folder.path_of(&name), "read"))
        };
        self.run(run_id, read).await
    }

    async fn list(&self, query: RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        self.run("", move |files, _| files.list_now(&query)).await
    }

    async fn remove(&self, run_id: &str) -> Result<bool, StoreError> {
        self.run(run_id, Self::remove_now).await
    }

    async fn is_in_use(&self, run_id: &str) -> Result<Option<bool>, StoreError> {
        let is_in_use = |files: &Self, run_id: &str| match files.existing(run_id)? {
            Some(folder) => lock::is_taken(&folder, &name(run_id, LOCK), run_id).map(Some),
            None => Ok(None),
        };
        self.run(run_id, is_in_use).await
    }
}

fn contents(folder: &Folder, name: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = folder.open_file(name, Access::Read)?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the complete lines of one part of a file, or of the first line if that is longer.
fn read_events(folder: &Folder, name: &str, from: u64) -> io::Result<Vec<EventLine>> {
    let mut file = match folder.open_file(name, Access::Read) {
        Ok(file) => file,
        // No events were written.
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    file.seek(SeekFrom::Start(from))?;
    let mut file = BufReader::new(file);

    let mut lines = Vec::new();
    let mut next = from;
    while next - from < EVENTS_PART as u64 {
        let mut line = Vec::new();
        let read = file.read_until(b'\n', &mut line)?;
        // The line may still be in the middle of being written.
        if line.pop() != Some(b'\n') {
            break;
        }

        next += read as u64;
        // A power cut may have left other bytes than those of an event.
        let json = String::from_utf8_lossy(&line).into_owned();
        lines.push(EventLine { json, next });
    }
    Ok(lines)
}

/// Makes the error of a system call, which did not do what it should.
fn failed(path: &Path, done: &'static str) -> impl Fn(io::Error) -> StoreError + use<> {
    let path = path.display().to_string();
    move |error| StoreError::io(format_args!("{path}: cannot be {done}"), error)
}
