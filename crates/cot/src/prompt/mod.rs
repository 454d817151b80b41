//! The prompts as data, and the requests built from them.

mod earlier;
mod prompts;
mod template;
mod transcript;
mod words;

pub use prompts::{Example, FormPrompts, PromptError, Prompts};
pub(crate) use transcript::Transcript;
