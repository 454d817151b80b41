//! The integration tests, as one program: each program is linked by itself, which takes longer than
//! most of them run.

#[expect(clippy::unwrap_used, reason = "helpers of tests may, as the tests do")]
mod lines;

#[expect(clippy::unwrap_used, reason = "helpers of tests may, as the tests do")]
mod allocations;
mod batches;
mod cancelling;
mod clock;
mod closures;
#[expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests may, as the tests do"
)]
mod composite;
mod deep;
mod drawing;
mod durable_engine;
mod events;
mod failing;
mod first_state;
mod folding;
mod growth;
mod journaling;
mod names;
#[expect(clippy::unwrap_used, reason = "helpers of tests may, as the tests do")]
mod observers;
mod panicking;
mod pausing;
mod random_graphs;
mod running;
mod shapes;
mod shown;
mod side_by_side;
mod spans;
mod stopping;
mod streaming;
mod unrecordable;
mod wiring;
mod wrappers;
