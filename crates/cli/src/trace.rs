//! The command `trace`: makes a page of a recorded run.

use std::path::{Path, PathBuf};

use cogwork_text::Escaped;
use cogwork_text::files::Folder;
use cogwork_trace::{Page, RecordErrorKind, RecordReader, record_path};

use crate::arguments::Trace;
use crate::output::{Outcome, tell};

const MIB: usize = 1024 * 1024;

pub(crate) fn trace(arguments: &Trace) -> Outcome {
    let max_bytes = usize::from(arguments.max_size) * MIB;

    match read(&path_of(arguments), max_bytes).and_then(|page| write(&page, &arguments.output)) {
        Ok(()) => Outcome::Success,
        Err(error) => {
            tell(format_args!("cogwork: {error}"));
            Outcome::NotReadOrWritten
        }
    }
}

/// Returns the path of the record, which may be given as the id of a run in a folder.
fn path_of(arguments: &Trace) -> PathBuf {
    match &arguments.journal {
        Some(folder) => record_path(folder, &arguments.record.to_string_lossy()),
        None => arguments.record.clone(),
    }
}

fn read(path: &Path, max_bytes: usize) -> Result<Page, String> {
    let reader = RecordReader::open(path);
    let page = reader.and_then(|reader| Page::read_with(reader, max_bytes));

    page.map_err(|error| {
        let path = Escaped::new(path.display());
        format!("{path}: {error}")
    })
}

/// Returns whether a file is the record of a run, which a page would replace for good.
fn is_record(path: &Path) -> bool {
    match RecordReader::open(path) {
        Ok(_) => true,
        Err(error) => matches!(error.kind(), RecordErrorKind::Newer { .. }),
    }
}

/// Replaces the file, and prints what the page doesn't show.
fn write(page: &Page, path: &Path) -> Result<(), String> {
    let shown = Escaped::new(path.display());
    let failed = |error: &dyn std::fmt::Display| format!("{shown}: could not be written: {error}");

    if is_record(path) {
        let reason = "this is the record of a run; choose another file for the page";
        return Err(failed(&reason));
    }

    let mut html = Vec::new();
    page.write(&mut html).map_err(|error| failed(&error))?;

    let (folder, name) = Folder::of_file(path).map_err(|error| failed(&error))?;
    folder
        .replace(name, &html)
        .map_err(|error| failed(&error))?;

    for note in page.notes() {
        tell(note);
    }
    Ok(())
}
