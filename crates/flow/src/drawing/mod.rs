//! Drawings of flows.
//!
//! [`parts`] says what is in a drawing, and in which order. [`mermaid`] and [`graphviz`] write each
//! part in their language, with the [`counts`] of visits if there are any.

pub(crate) mod counts;
pub(crate) mod graphviz;
pub(crate) mod mermaid;
pub(crate) mod parts;
