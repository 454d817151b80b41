//! A file for each run.

mod events;
mod lines;

use std::fs::File;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use cogwork_text::files::{Access, Folder, LockFile, safe_name};

use self::lines::{Joins, ReadLines, append};
use crate::backend::{Backend, Edit, Expected, Held, Taken, TextLine, blocking};
use crate::mutex;
use crate::record::Reader;
use crate::summary::Standing;
use crate::{EventLine, RunQuery, RunStatus, RunSummary, StoreError, folder, lock};

/// The ending of the file of each run.
const ENDING: &str = ".jsonl";

/// A folder with a file for each run.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    folder: PathBuf,
}

/// The names of the files of a run.
struct Names {
    lines: String,
    events: String,
    lock: String,
    /// The file that replaces the lines once it is complete. Its name is fixed, so that leftovers of a
    /// crash are found.
    new: String,
}

impl Names {
    fn of(run_id: &str) -> Self {
        let name = safe_name(run_id);
        Self {
            lines: format!("{name}{ENDING}"),
            events: format!("{name}.events"),
            lock: format!("{name}.lock"),
            new: format!("{name}.new"),
        }
    }
}

impl Files {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, run_id: &str) -> PathBuf {
        self.folder.join(Names::of(run_id).lines)
    }

    /// Opens the folder of a run that exists.
    fn existing(&self, run_id: &str) -> Result<Option<Folder>, StoreError> {
        let Some(folder) = folder::open(&self.folder)? else {
            return Ok(None);
        };

        let path = self.path(run_id);
        let exists = folder.has_file(Names::of(run_id).lines);
        let exists = exists.map_err(|error| failed(&path, "opened")(error.into()))?;
        Ok(exists.then_some(folder))
    }

    fn take_now(&self, run_id: &str, expected: Expected) -> Result<Option<Taken>, StoreError> {
        let path = self.path(run_id);
        let names = Names::of(run_id);
        // A failed lookup leaves no lock file.
        let folder = match expected {
            Expected::Existing => self.existing(run_id)?,
            Expected::New | Expected::Either => Some(folder::create(&self.folder)?),
        };
        let Some(folder) = folder else {
            return Ok(None);
        };

        let lock = lock::take(&folder, &names.lock, run_id)?;
        // Left by a crash during a fold. If it cannot be removed, the next fold reports the error.
        let _ = folder.remove_leftover(&names.new);
        let mut taken = FileRun {
            path,
            names,
            folder,
            file: None,
            events: None,
            whole: 0,
            _lock: lock,
        };
        let lines = match self.existing(run_id)? {
            Some(_) if expected == Expected::New => {
                return Err(StoreError::already_there(run_id, &self.run_place(run_id)));
            }
            Some(_) => taken.read()?,
            None => Vec::new(),
        };

        Ok(Some(Taken {
            held: Box::new(HeldFile(Arc::new(Mutex::new(taken)))),
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
        let file = folder.open_file(Names::of(run_id).lines, Access::Read);
        let file = file.map_err(|error| failed(&path, "read")(error.into()))?;
        let mut lines = ReadLines::of(&path, &file);
        let mut read = Vec::new();
        for number in 1..numbers.end {
            let Some(line) = lines.next_line()? else {
                break;
            };
            if number == 1 {
                // It must be a record, whatever part of it is wanted.
                self.reader(run_id).header(&line)?;
            }
            if number >= numbers.start {
                read.push(line);
            }
        }

        Ok(Some(read))
    }

    fn remove_now(&self, run_id: &str) -> Result<bool, StoreError> {
        let names = Names::of(run_id);
        let Some(folder) = self.existing(run_id)? else {
            return Ok(false);
        };

        let lock = lock::take(&folder, &names.lock, run_id)?;
        if self.existing(run_id)?.is_none() {
            return Ok(false);
        }

        let _ = folder.remove_leftover(&names.new);
        for name in [&names.events, &names.lines] {
            match folder.remove_file(name) {
                Err(error) if !error.is_not_found() => {
                    return Err(failed(&folder.path_of(name), "removed")(error.into()));
                }
                _ => {}
            }
        }
        sync(&folder)?;
        lock::remove(&folder, &names.lock, lock);
        Ok(true)
    }

    fn list_now(&self, query: &RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        let Some(folder) = folder::open(&self.folder)? else {
            return Ok(Vec::new());
        };

        let names = match query.only_run() {
            Some(run_id) if self.existing(run_id)?.is_none() => return Ok(Vec::new()),
            Some(run_id) => vec![Names::of(run_id).lines.into()],
            None => folder
                .names()
                .map_err(|error| failed(&self.folder, "read")(error.into()))?,
        };
        let runs = names.iter().filter_map(|name| {
            let name = name.to_str()?;
            let stem = name.strip_suffix(ENDING)?;
            Some(self.summary(&folder, name, stem))
        });
        Ok(query.select(runs.collect()))
    }

    /// Returns the summary of the run in a file. The part before any damage counts.
    fn summary(&self, folder: &Folder, name: &str, stem: &str) -> RunSummary {
        let mut summary = RunSummary {
            run_id: stem.to_owned(),
            flow: String::new(),
            fork: None,
            started: UNIX_EPOCH,
            updated: None,
            entries: 0,
            status: RunStatus::Open,
        };

        if let Err(error) = self.summarize(folder, name, &mut summary) {
            summary.status = RunStatus::Damaged {
                error: error.to_string(),
            };
        }
        summary
    }

    fn summarize(
        &self,
        folder: &Folder,
        name: &str,
        summary: &mut RunSummary,
    ) -> Result<(), StoreError> {
        let path = self.folder.join(name);
        let file = folder.open_file(name, Access::Read);
        let file = file.map_err(|error| failed(&path, "read")(error.into()))?;
        let mut lines = ReadLines::of(&path, &file);
        let header = lines.header()?;
        let reader = Reader {
            backend: self,
            run_id: &header.run_id,
        };

        let mut standing = Standing::default();
        let mut updated = Some(header.started);
        let mut number = 1;
        let mut next = || -> Result<bool, StoreError> {
            let Some(line) = lines.next_line()? else {
                return Ok(false);
            };
            number += 1;
            updated = line.at;
            for line in reader.entries(&[line], number)? {
                standing.add(&line.entry);
            }
            Ok(true)
        };

        let read = loop {
            match next() {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        *summary = standing.summary(header, updated);
        read
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
            events::read(&folder, &Names::of(run_id).events, from).map(Some)
        };
        self.run(run_id, read).await
    }

    async fn list(&self, query: RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        let files = self.clone();
        blocking(self.place(), move || files.list_now(&query)).await
    }

    async fn remove(&self, run_id: &str) -> Result<bool, StoreError> {
        self.run(run_id, Self::remove_now).await
    }

    async fn is_in_use(&self, run_id: &str) -> Result<Option<bool>, StoreError> {
        let is_in_use = |files: &Self, run_id: &str| match files.existing(run_id)? {
            Some(folder) => lock::is_taken(&folder, &Names::of(run_id).lock, run_id).map(Some),
            None => Ok(None),
        };
        self.run(run_id, is_in_use).await
    }
}

/// A run that is locked.
struct FileRun {
    path: PathBuf,
    names: Names,
    folder: Folder,
    /// The file with the lines, if it exists.
    file: Option<File>,
    /// The file with the events, once some were written.
    events: Option<File>,
    /// The length of its whole lines. A crash may have left an incomplete one after them.
    whole: u64,
    _lock: LockFile,
}

struct HeldFile(Arc<Mutex<FileRun>>);

#[async_trait]
impl Held for HeldFile {
    async fn write(&mut self, edit: Edit) -> Result<(), StoreError> {
        let run = Arc::clone(&self.0);
        let place = mutex::lock(&run).path.display().to_string();
        blocking(place, move || mutex::lock(&run).write(&edit)).await
    }

    async fn write_events(&mut self, events: Vec<String>) -> Result<(), StoreError> {
        let run = Arc::clone(&self.0);
        let place = mutex::lock(&run).path.display().to_string();
        let write = move || {
            let mut run = mutex::lock(&run);
            let FileRun {
                folder,
                names,
                events: file,
                ..
            } = &mut *run;
            events::append(folder, &names.events, file, &events)
        };
        blocking(place, write).await
    }
}

impl FileRun {
    /// Reads all lines, without changing anything.
    fn read(&mut self) -> Result<Vec<TextLine>, StoreError> {
        let file = self.folder.open_file(&self.names.lines, Access::Append);
        let file = file.map_err(|error| failed(&self.path, "opened")(error.into()))?;

        let mut reader = ReadLines::of(&self.path, &file);
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line()? {
            lines.push(line);
        }

        self.whole = reader.whole();
        // A process that was killed may have left lines that aren't on disk yet.
        file.sync_data().map_err(failed(&self.path, "written"))?;
        self.file = Some(file);
        Ok(lines)
    }

    fn write(&mut self, edit: &Edit) -> Result<(), StoreError> {
        if edit.replaces.is_some() {
            self.file = Some(self.replace(&edit.lines)?);
            return Ok(());
        }

        let mut text = Vec::new();
        let mut joins = Joins::Nothing;
        for line in &edit.lines {
            append(&mut text, line, joins);
            joins = Joins::TheLineBefore;
        }
        self.append(&text).map_err(failed(&self.path, "written"))
    }

    fn append(&mut self, text: &[u8]) -> io::Result<()> {
        let mut file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        if file.metadata()?.len() > self.whole {
            file.set_len(self.whole)?;
        }

        file.write_all(text)?;
        file.sync_data()?;
        self.whole += text.len() as u64;
        Ok(())
    }

    /// Replaces the file, or creates it: after a crash, either the old or the new one is there.
    fn replace(&mut self, lines: &[TextLine]) -> Result<File, StoreError> {
        let mut text = Vec::new();
        for line in lines {
            append(&mut text, line, Joins::Nothing);
        }

        let path = self.folder.path_of(&self.names.new);
        let new = (self.folder).temporary_named(&self.names.lines, &self.names.new);
        let mut new = new.map_err(|error| failed(&path, "written")(error.into()))?;
        new.write_all(&text).map_err(failed(&path, "written"))?;
        // The file only gets its name once it is completely on disk.
        new.file().sync_all().map_err(failed(&path, "written"))?;

        let placed = new.put_in_place();
        let file = placed.map_err(|error| failed(&self.path, "written")(error.into()))?;
        sync(&self.folder)?;
        self.whole = text.len() as u64;
        Ok(file)
    }
}

fn sync(folder: &Folder) -> Result<(), StoreError> {
    let synced = folder.sync();
    synced.map_err(|error| failed(folder.path(), "synced")(error.into()))
}

/// Makes the error of a system call, which did not do what it should.
fn failed(path: &Path, done: &'static str) -> impl Fn(io::Error) -> StoreError {
    let path = path.display().to_string();
    move |error| StoreError::io(format_args!("{path}: cannot be {done}"), error)
}
