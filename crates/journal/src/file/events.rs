//! The file with the events of a run: lines of JSON, which are appended and never synced.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek, SeekFrom, Write as _};
use std::path::Path;

use cogwork_text::files::{Access, Folder};

use super::failed;
use crate::backend::EVENTS_PART;
use crate::{EventLine, StoreError};

/// Appends events, to a file that is opened the first time.
pub(super) fn append(
    folder: &Folder,
    name: &str,
    file: &mut Option<File>,
    events: &[String],
) -> Result<(), StoreError> {
    let path = folder.path_of(name);
    let mut text = String::new();
    let open = match file.take() {
        Some(open) => open,
        None => {
            let open = folder.open_or_create(name, Access::Append);
            let open = open.map_err(|error| failed(&path, "opened")(error.into()))?;
            if !ends_a_line(&open).map_err(failed(&path, "read"))? {
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
    let written = file.insert(open).write_all(text.as_bytes());
    written.map_err(failed(&path, "written"))
}

fn ends_a_line(mut file: &File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let Some(before) = length.checked_sub(1) else {
        return Ok(true);
    };

    let mut last = [0];
    file.seek(SeekFrom::Start(before))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Reads the complete lines of one part of the file, or of the first line if that is longer.
pub(super) fn read(folder: &Folder, name: &str, from: u64) -> Result<Vec<EventLine>, StoreError> {
    let path = folder.path_of(name);
    let file = match folder.open_file(name, Access::Read) {
        Ok(file) => file,
        // No events were written.
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(failed(&path, "read")(error.into())),
    };
    read_lines(&path, file, from)
}

fn read_lines(path: &Path, mut file: File, from: u64) -> Result<Vec<EventLine>, StoreError> {
    file.seek(SeekFrom::Start(from))
        .map_err(failed(path, "read"))?;
    let mut file = BufReader::with_capacity(1 << 16, file);

    let mut lines = Vec::new();
    let mut next = from;
    while next - from < EVENTS_PART as u64 {
        let mut line = Vec::new();
        let read = file.read_until(b'\n', &mut line);
        let read = read.map_err(failed(path, "read"))?;
        if line.pop() != Some(b'\n') {
            break;
        }

        next += read as u64;
        let json = String::from_utf8_lossy(&line).into_owned();
        lines.push(EventLine { json, next });
    }
    Ok(lines)
}
