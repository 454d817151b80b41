//! The command `trace`: makes a page of a recorded run.

use std::io::{self, Read as _};
use std::path::Path;

use cogwork_journal::Store;
use cogwork_text::Escaped;
use cogwork_trace::Page;

use crate::arguments::Trace;
use crate::output::{Ended, check_replaceable, replace_file};

/// How a page begins.
const START: &[u8; 15] = b"<!DOCTYPE html>";

pub(crate) async fn trace(arguments: &Trace) -> Ended {
    let store = Store::at(&arguments.journal)?;
    let page = Page::of_run(&store, &arguments.run).await?;
    write_page(&page, &arguments.output)
}

/// Writes a page, in place of one that may be there.
pub(crate) fn write_page(page: &Page, path: &Path) -> Ended {
    check_page(path)?;
    let mut html = Vec::new();
    page.write(&mut html)?;
    Ok(replace_file(path, &html)?)
}

/// Checks that a page can be written.
pub(crate) fn check_page(path: &Path) -> Result<(), String> {
    // Whoever mixes up two options would lose the only record of a run.
    if is_something_else(path) {
        let path = Escaped::new(path.display());
        let reason = "there is a file that isn't a page; choose another name";
        return Err(format!("{path}: could not be written: {reason}"));
    }
    check_replaceable(path)
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
