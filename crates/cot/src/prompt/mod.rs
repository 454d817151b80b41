//! The prompts as data, and the requests built from them.

mod earlier;
mod prompts;
mod results;
mod template;
mod transcript;
mod words;

pub use prompts::{Example, FormPrompts, Prompts, PromptsError, ToolPrompts};
