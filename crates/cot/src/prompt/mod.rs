//! What the model is told: the texts as data, and the request they make.

mod earlier;
mod prompts;
mod template;
mod transcript;
mod words;

pub use prompts::{Example, FormPrompts, PromptError, Prompts};
pub(crate) use transcript::Transcript;
