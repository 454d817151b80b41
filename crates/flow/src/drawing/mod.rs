//! Drawings of flows.
//!
//! [`figures`] numbers the places of a flow, and [`mermaid`] draws them with the [`counts`] of
//! visits. [`graph`] is the same as data.

pub(crate) mod counts;
mod figures;
pub(crate) mod graph;
pub(crate) mod mermaid;
