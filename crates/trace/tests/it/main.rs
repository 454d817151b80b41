//! The integration tests, as one program: each program is linked by itself, which takes longer than
//! most of them run.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

mod bounds;
mod growing;
mod outcomes;
#[cfg(feature = "page")]
mod page;
mod privacy;
mod reading;
mod recording;
mod resumed;
mod stores;
mod support;
