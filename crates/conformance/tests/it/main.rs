//! The suite on subjects that keep their promises, and on those that don't.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

mod engines;
mod macros;
mod mutants;
mod own_store;
mod shown;
