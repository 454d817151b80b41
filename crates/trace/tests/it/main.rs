//! The integration tests, as one program: each program is linked by itself, which takes longer than
//! most of them run.

#[expect(clippy::unwrap_used, reason = "helpers of tests may, as the tests do")]
mod bounds;
#[expect(clippy::unwrap_used, reason = "helpers of tests may, as the tests do")]
mod outcomes;
#[cfg(feature = "page")]
mod page;
#[expect(clippy::unwrap_used, reason = "helpers of tests may, as the tests do")]
mod privacy;
mod reading;
#[expect(clippy::unwrap_used, reason = "helpers of tests may, as the tests do")]
mod recording;
#[expect(clippy::unwrap_used, reason = "helpers of tests may, as the tests do")]
mod stores;
#[expect(clippy::unwrap_used, reason = "helpers of tests may, as the tests do")]
mod support;
