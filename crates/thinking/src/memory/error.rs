use cogwork_text::OneLine;

/// An error of a memory, as one line.
#[derive(thiserror::Error)]
#[error("{}", OneLine::new(.0))]
pub struct MemoryError(String);

cogwork_text::debug_as_display!(MemoryError);

impl MemoryError {
    /// Creates an error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
