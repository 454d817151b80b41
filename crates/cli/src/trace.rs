//! The command `trace`: makes a page of a recorded run.

use std::path::Path;

use cogwork_journal::Store;
use cogwork_trace::Page;

use crate::arguments::Trace;
use crate::output::{Ended, replace_file};

pub(crate) async fn trace(arguments: &Trace) -> Ended {
    let store = Store::at(&arguments.journal)?;
    let page = Page::of_run(&store, &arguments.run).await?;
    write_page(&page, &arguments.output)
}

/// Writes a page, in place of one that may be there.
pub(crate) fn write_page(page: &Page, path: &Path) -> Ended {
    let mut html = Vec::new();
    page.write(&mut html)?;
    Ok(replace_file(path, &html)?)
}
