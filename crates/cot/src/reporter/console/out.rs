//! The writer of the output.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// A writer that is shared with what draws on the terminal.
#[derive(Clone)]
pub(super) struct Out(Arc<Mutex<Box<dyn Write + Send>>>);

impl Out {
    pub(super) fn new(out: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(out))))
    }

    /// Writes a piece at once, so that the lines of concurrent runs do not mix. A closed pipe is
    /// ignored.
    pub(super) fn write(&self, text: &str) {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}
