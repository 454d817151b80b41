//! Programs that cargo has built.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Whether the program is not older than any file that it was built from.
pub(crate) fn is_fresh(program: &Path) -> bool {
    let Some(built) = changed(program) else {
        return false;
    };

    let Ok(record) = fs::read_to_string(program.with_extension("d")) else {
        return false;
    };

    // `program: source source …`
    let Some(sources) = record.strip_prefix(&format!("{}: ", program.display())) else {
        return false;
    };

    sources
        .split_whitespace()
        .all(|source| changed(Path::new(source)).is_some_and(|at| at <= built))
}

fn changed(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|file| file.modified()).ok()
}
