//! Sessions as Markdown and as Mermaid flowcharts, in which no text of a model can leave its place.

pub(crate) mod markdown;
pub(crate) mod mermaid;
mod session;

pub(crate) use session::{Shown, Step, older};
