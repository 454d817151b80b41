//! The studio over real stores, through HTTP requests as a browser sends them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

mod access;
mod answers;
mod api;
mod bounds;
mod client;
mod flows;
mod forks;
mod lists;
mod live;
#[cfg(feature = "postgres")]
mod postgres;
mod runs;
mod shown;
