//! The command `trace`: makes a page of a recorded run.

use std::io::{self, Read as _};
use std::path::Path;

use cogwork_journal::Store;
use cogwork_text::Escaped;
use cogwork_text::files::Folder;
use cogwork_trace::{Page, PageError};

use crate::arguments::Trace;
use crate::output::{Outcome, runtime, tell};

/// How a page begins.
const START: &[u8; 15] = b"<!DOCTYPE html>";

pub(crate) fn trace(arguments: &Trace) -> Outcome {
    let page = runtime().map_err(|error| error.to_string());
    let page = page.and_then(|runtime| {
        let read = runtime.block_on(read(arguments));
        read.map_err(|error| error.to_string())
    });

    match page.and_then(|page| write(&page, &arguments.output)) {
        Ok(()) => Outcome::Success,
        Err(error) => {
            tell(format_args!("cogwork: {error}"));
            Outcome::NotReadOrWritten
        }
    }
}

async fn read(arguments: &Trace) -> Result<Page, PageError> {
    let store = Store::at(&arguments.journal)?;
    Page::of_run(&store, &arguments.run).await
}

/// Returns whether there is a file that isn't a page, such as a journal, which would be lost.
fn is_something_else(path: &Path) -> bool {
    let mut start = [0; START.len()];
    let Ok(mut file) = std::fs::File::open(path) else {
        return false;
    };

    match file.read_exact(&mut start) {
        Ok(()) => start != *START,
        Err(error) => error.kind() == io::ErrorKind::UnexpectedEof,
    }
}

/// Replaces the file.
pub(crate) fn write(page: &Page, path: &Path) -> Result<(), String> {
    let shown = Escaped::new(path.display());
    let failed = |error: &dyn std::fmt::Display| format!("{shown}: could not be written: {error}");

    if is_something_else(path) {
        let reason = "there is a file that isn't a page; choose another name";
        return Err(failed(&reason));
    }

    let mut html = Vec::new();
    page.write(&mut html).map_err(|error| failed(&error))?;

    let (folder, name) = Folder::of_file(path).map_err(|error| failed(&error))?;
    folder.replace(name, &html).map_err(|error| failed(&error))
}
