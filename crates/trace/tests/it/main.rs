//! The integration tests, as one program: each program is linked by itself, which takes longer than
//! most of them run.

mod bounds;
mod continuing;
#[expect(clippy::unwrap_used, reason = "helpers of tests may, as the tests do")]
mod keys;
mod privacy;
#[cfg(feature = "page")]
mod page;
mod reading;
mod recording;
mod round_trip;
#[expect(clippy::unwrap_used, reason = "helpers of tests may, as the tests do")]
mod support;
