//! Prompts, and the completion of names.

mod completion;
mod texts;
