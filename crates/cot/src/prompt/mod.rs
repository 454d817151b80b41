//! The prompts as data, and the requests built from them.

mod earlier;
mod prompts;
mod results;
mod template;
mod tool_prompts;
mod transcript;
mod words;

pub use prompts::{Example, FormPrompts, PromptError, Prompts};
pub use tool_prompts::ToolPrompts;
pub(crate) use transcript::Transcript;
