//! Properties of every adapter, for any text.

mod adapters;
mod backoff;
mod characters;
mod mask;
mod yaml;
