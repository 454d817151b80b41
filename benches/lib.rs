//! What the benches share; run them with `cargo bench -p cogwork-benches`.
//!
//! Each bench prints ratios: two ways of doing something run in turn, so that other load affects both. Times differ from
//! machine to machine, ratios little; `docs/performance.md` quotes them.

mod hand_written;
mod ratio;
mod samples;

pub use hand_written::{BoxError, BoxFuture, HandWritten};
pub use ratio::{each, print, quartiles, ratio, rounds, timed};
pub use samples::{Canned, nested_plan, reply, thinker};

use tokio::runtime::{Builder, Runtime};

/// Creates a runtime on this thread alone, so that a step is compared with a step, and not with a scheduler.
///
/// # Errors
///
/// Returns an error if the system has no room for one.
pub fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_time().build()
}
