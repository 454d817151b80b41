use std::path::{Path, PathBuf};

/// The ending of the names of records.
const ENDING: &str = ".trace";

/// Returns the path of the record of a run in a folder, such as that of a store of files:
/// `<folder>/<run id>.trace`, with the same escapes as in the other files of a run.
///
/// ```
/// use cogwork_trace::record_path;
///
/// assert!(record_path("runs", "order-17").ends_with("order-17.trace"));
/// assert!(record_path("runs", "Order/17").ends_with("%4frder%2f17.trace"));
/// ```
pub fn record_path(folder: impl AsRef<Path>, run_id: &str) -> PathBuf {
    let name = cogwork_text::files::safe_name(run_id);
    folder.as_ref().join(format!("{name}{ENDING}"))
}
