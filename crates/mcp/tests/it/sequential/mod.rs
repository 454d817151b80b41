//! The tool `sequentialthinking`.

mod bounds;
mod coercions;
mod log;
mod original;
mod restarts;
mod sessions;
mod strict;
mod support;
