//! What the benches share; run them with `cargo bench -p cogwork-benches`.
//!
//! Each bench gives times by criterion, and after them ratios: two ways of doing something run in turn,
//! so that whatever else the machine does falls on both. Times differ from machine to machine, ratios
//! little; `docs/performance.md` quotes ratios.

mod hand_written;
pub use hand_written::{BoxError, BoxFuture, IndexedEdges, IndexedLoop, NamedEdges, NamedLoop};

mod ratio;
pub use ratio::{each, print, ratio, timed};

mod recorded;
pub use recorded::{Make, database, files, finish, run_timed, texts};

mod samples;
pub use samples::{Canned, flat_plan, nested_plan, reply, thinker};

use std::time::Duration;

use criterion::Criterion;
use tokio::runtime::{Builder, Runtime};

/// Criterion set for a suite that is done in a few minutes; the command line overrides it.
pub fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30)
        .configure_from_args()
}

/// A runtime on this thread alone: a step is compared with a step, not with a scheduler.
///
/// # Errors
///
/// When the system has no room for one.
pub fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_time().build()
}
