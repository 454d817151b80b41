use std::fmt;

use cogwork_text::OneLine;

/// The maximum number of characters of a message.
const MESSAGE: usize = 400;

/// An error of a [`Server`](crate::Server). The message is a single line.
#[derive(Clone)]
pub struct ServerError(String);

cogwork_text::debug_as_display!(ServerError);

impl ServerError {
    pub(crate) fn of(error: impl fmt::Display) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine::new(&self.0).with_max_chars(MESSAGE).fmt(f)
    }
}

impl std::error::Error for ServerError {}
