//! The tool `sequentialthinking`.

mod coercions;
mod original;
mod support;
