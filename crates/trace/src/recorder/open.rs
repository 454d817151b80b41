//! Opens the file of a record.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Seek};
use std::path::Path;
use std::time::Duration;

use cogwork_text::files::{Access, Folder, LockError, LockFile};

use serde_json::Value;

use crate::record::reader::MAX_LINE;
use crate::{Header, RecordErrorKind, RecordReader, RecordedEvent};

/// A file to record into.
#[derive(Debug)]
pub(super) struct OpenRecord {
    pub(super) file: File,
    /// A lock on another file, on platforms where it isn't on this one.
    pub(super) lock: Option<LockFile>,
    /// The header of the record that the file contains.
    pub(super) header: Option<Header>,
    /// The number of bytes that the file contains.
    pub(super) bytes: u64,
    pub(super) next_message: u64,
    pub(super) next_tools: u64,
    pub(super) next_call: u64,
}

impl OpenRecord {
    /// Opens or creates a file, and reads what it contains.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let (folder, name) = Folder::of_file(path)?;
        let file = folder.open_or_create(&name, Access::Append)?;
        let lock = lock(&folder, &name, &file)?;

        let mut record = Self {
            file,
            lock,
            header: None,
            bytes: 0,
            next_message: 0,
            next_tools: 0,
            next_call: 0,
        };
        record.read_on()?;
        Ok(record)
    }

    /// Reads the record in the file, and removes an incomplete line.
    fn read_on(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        if length == 0 {
            return Ok(());
        }

        let mut source = BufReader::new(self.file.try_clone()?);
        let start = source.stream_position()?;
        if start != 0 {
            source.rewind()?;
        }

        let mut reader = match RecordReader::new(source) {
            Ok(reader) => reader,
            Err(error) if is_torn_header(&self.file, error.kind())? => {
                return self.file.set_len(0);
            }
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        };

        for event in reader.by_ref() {
            match event {
                Ok(event) => self.count(&event),
                Err(error) if error.is_of_line() => {}
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
            }
        }

        self.bytes = reader.bytes();
        self.header = Some(reader.header().clone());
        if self.bytes < length {
            self.file.set_len(self.bytes)?;
        }

        Ok(())
    }

    /// Continues the numbers after those of the record.
    fn count(&mut self, event: &RecordedEvent) {
        let Some(report) = event.report_from("chat") else {
            return;
        };

        let (next, field) = match report.get("type").and_then(Value::as_str) {
            Some("message") => (&mut self.next_message, "id"),
            Some("tools") => (&mut self.next_tools, "id"),
            Some("chat" | "chat_failed" | "embedded") => (&mut self.next_call, "call"),
            _ => return,
        };
        if let Some(number) = report.get(field).and_then(Value::as_u64) {
            *next = (*next).max(number.saturating_add(1));
        }
    }
}

/// How long to wait for a lock. After a recorder is dropped, its lines are still written.
const PATIENCE: Duration = Duration::from_millis(250);

/// Locks a record, so that at most one recorder writes it. Everybody may read it meanwhile, which a
/// lock on the record itself prevents on platforms other than Unix; there, a separate file is locked.
fn lock(folder: &Folder, name: &OsStr, file: &File) -> io::Result<Option<LockFile>> {
    let locked = if cfg!(unix) {
        folder.lock(name, file, PATIENCE).map(|()| None)
    } else {
        let mut lock_name = name.to_owned();
        lock_name.push(".lock");
        LockFile::lock_within(folder, lock_name, PATIENCE).map(Some)
    };

    locked.map_err(refused)
}

fn refused(error: LockError) -> io::Error {
    match error {
        LockError::InUse { .. } => {
            let text = "another recorder writes this record; wait until it has stopped, or choose another file";
            io::Error::new(io::ErrorKind::ResourceBusy, text)
        }
        LockError::File(error) => error.into(),
        error => io::Error::other(error),
    }
}

/// Returns whether the file ends inside of its header, because of a crash.
fn is_torn_header(file: &File, error: &RecordErrorKind) -> io::Result<bool> {
    const BEGINNING: &[u8] = br#"{"cogwork_record":"#;

    if !matches!(error, RecordErrorKind::NotARecord { .. }) {
        return Ok(false);
    }

    let mut file = file.try_clone()?;
    file.rewind()?;
    let Ok(content) = cogwork_text::files::read(&file, MAX_LINE as u64) else {
        return Ok(false);
    };

    let is_one_line = !content.contains(&b'\n');
    let is_beginning = content.starts_with(BEGINNING) || BEGINNING.starts_with(&content);
    Ok(is_one_line && is_beginning)
}
