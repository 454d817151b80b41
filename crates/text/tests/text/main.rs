//! Properties of every adapter, for any text.

mod adapters;
mod characters;
mod definitions;
mod mask;
