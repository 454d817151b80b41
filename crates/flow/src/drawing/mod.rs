//! Drawings of flows.
//!
//! [`parts`] lists the parts of a drawing in order, and [`draw`] passes each to a language:
//! [`mermaid`] or [`graphviz`]. [`counts`] has the counts of visits to show. [`graph`] is the same
//! as data.

pub(crate) mod counts;
mod draw;
pub(crate) mod graph;
pub(crate) mod graphviz;
pub(crate) mod mermaid;
mod parts;
