//! A file that is written.

use std::fs::File;
use std::io::{self, Read as _, Seek, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cogwork_text::files::{Access, Folder, LockFile};

use super::{EVENTS, LINES, NEW, failed, lines, name};
use crate::StoreError;
use crate::backend::{Edit, Held, TextLine, blocking, guard};

/// A run that is locked.
pub(super) struct FileRun {
    run_id: String,
    folder: Folder,
    /// The file with the lines, if it exists.
    file: Option<File>,
    /// The file with the events, once some were written.
    events: Option<File>,
    /// The length of its whole lines. A crash may have left an incomplete one after them.
    length: u64,
    _lock: LockFile,
}

struct HeldFile(Arc<Mutex<FileRun>>);

impl HeldFile {
    async fn blocking(
        &self,
        ending: &str,
        work: impl FnOnce(&mut FileRun) -> io::Result<()> + Send + 'static,
    ) -> Result<(), StoreError> {
        // Shared with the thread, which needs the lock even if this future is dropped.
        let run = Arc::clone(&self.0);
        let path = guard(&run).path(ending);
        let work = move || work(&mut guard(&run)).map_err(failed(&path, "written"));
        blocking(String::new(), work).await
    }
}

#[async_trait]
impl Held for HeldFile {
    async fn write(&mut self, edit: Edit) -> Result<(), StoreError> {
        let write = move |run: &mut FileRun| match edit.replaces {
            Some(_) => run.replace(&edit.lines),
            None => run.append(&edit.lines),
        };
        self.blocking(LINES, write).await
    }

    async fn write_events(&mut self, events: Vec<String>) -> Result<(), StoreError> {
        let write = move |run: &mut FileRun| run.append_events(&events);
        self.blocking(EVENTS, write).await
    }
}

impl FileRun {
    pub(super) fn new(run_id: &str, folder: Folder, lock: LockFile) -> Self {
        Self {
            run_id: run_id.to_owned(),
            folder,
            file: None,
            events: None,
            length: 0,
            _lock: lock,
        }
    }

    pub(super) fn held(self) -> Box<dyn Held> {
        Box::new(HeldFile(Arc::new(Mutex::new(self))))
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.folder.path_of(name(&self.run_id, ending))
    }

    /// Reads all lines, without changing anything.
    pub(super) fn read(&mut self) -> Result<Vec<TextLine>, StoreError> {
        let path = self.path(LINES);
        let open = || -> io::Result<(File, Vec<u8>)> {
            let mut bytes = Vec::new();
            let mut file = self
                .folder
                .open_file(name(&self.run_id, LINES), Access::Append)?;
            file.read_to_end(&mut bytes)?;
            Ok((file, bytes))
        };
        let (file, bytes) = open().map_err(failed(&path, "opened"))?;
        let read = lines::read(&path, &bytes, u64::MAX);
        if let Some(damage) = read.damage {
            return Err(damage);
        }

        // A process that was killed may have left lines that aren't on disk yet.
        file.sync_data().map_err(failed(&path, "written"))?;
        self.length = read.length;
        self.file = Some(file);
        Ok(read.lines)
    }

    fn append(&mut self, lines: &[TextLine]) -> io::Result<()> {
        let mut file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        // What a crash left of an incomplete line is removed now, when there is something to write.
        if file.metadata()?.len() > self.length {
            file.set_len(self.length)?;
        }

        let mut text = Vec::new();
        lines::append(&mut text, lines, true);
        file.write_all(&text)?;
        file.sync_data()?;
        self.length += text.len() as u64;
        Ok(())
    }

    /// Replaces the file, or creates it: after a crash, either the old or the new one is there.
    fn replace(&mut self, lines: &[TextLine]) -> io::Result<()> {
        let mut text = Vec::new();
        // The file appears as a whole, so none of its lines is there without the others.
        lines::append(&mut text, lines, false);
        let (target, new) = (name(&self.run_id, LINES), name(&self.run_id, NEW));
        // The new file is synced before it is renamed, and so never half there.
        self.file = Some(self.folder.replace_by(target, new, &text)?);
        self.length = text.len() as u64;
        Ok(())
    }

    /// Appends events, to a file that is opened the first time and never synced.
    fn append_events(&mut self, events: &[String]) -> io::Result<()> {
        let mut text = String::new();
        let open = match self.events.take() {
            Some(open) => open,
            None => {
                let name = name(&self.run_id, EVENTS);
                let open = self.folder.open_or_create(name, Access::Append)?;
                if !ends_a_line(&open)? {
                    // A crash left an incomplete line.
                    text.push('\n');
                }
                open
            }
        };

        for event in events {
            text.push_str(event);
            text.push('\n');
        }
        self.events.insert(open).write_all(text.as_bytes())
    }
}

fn ends_a_line(mut file: &File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let Some(before) = length.checked_sub(1) else {
        // In an empty file, no line is incomplete.
        return Ok(true);
    };

    let mut last = [0];
    file.seek(SeekFrom::Start(before))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
