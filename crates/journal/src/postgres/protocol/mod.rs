//! The lease protocol: who may write a run, and until when.
//!
//! The decisions of a worker are here: when it renews a lease, gives it back, repeats a write, and stops
//! writing. The decisions of the database are the [`statements`]. Nothing here depends on the rest of
//! the crate, so the tests can run the same code with many workers in simulated time, and compare the
//! statements with a model.

mod held;
mod kept;
mod leases;
mod releasing;
mod renewing;
pub(crate) mod server;
pub(crate) mod statements;
mod taking;
mod writing;

pub(crate) use self::held::{Held, Verdict, Written};
pub(crate) use self::leases::{Lease, LeaseWatch, Leases};
pub(crate) use self::server::{Delays, Durations, Server};
pub(crate) use self::taking::Taking;
pub(crate) use self::writing::{WriteError, write};
