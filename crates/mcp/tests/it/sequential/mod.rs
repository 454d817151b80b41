//! The tool `sequentialthinking`.

mod arguments;
mod original;
mod sessions;
