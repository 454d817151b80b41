//! What the model is told: the texts as data, and the request they make.

mod prompts;
mod request;
mod template;

pub use prompts::{Example, FormPrompts, PromptError, Prompts};
pub(crate) use request::Transcript;
