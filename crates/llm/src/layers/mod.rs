//! Clients around clients: retries, limits, caches and recordings.
//!
//! Each takes a client, changes how it is called, and is a client itself.

mod budget;
mod cache;
mod cassette;
mod concurrency_limit;
mod fallback;
mod prices;
mod rate_limit;
mod reply;
mod retry;
mod timeout;
mod tracing;

pub use budget::{Budget, Spending};
pub use cache::Cache;
pub use cassette::{Recorder, Replay};
pub use concurrency_limit::ConcurrencyLimit;
pub use fallback::Fallback;
pub use prices::{Price, Prices};
pub use rate_limit::RateLimit;
pub use retry::Retry;
pub use timeout::Timeout;
pub use tracing::Tracing;

pub use cogwork_text::Backoff;
