//! Stores of runs: what they take, what they refuse, and that nothing on record is done again.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

mod child;
mod clock;
mod damage;
#[cfg(feature = "sqlite")]
mod database;
mod each;
mod failed_writes;
mod folding;
mod going_on;
mod kills;
mod listing;
mod locking;
mod names;
mod reading;
mod shown;
mod work;
