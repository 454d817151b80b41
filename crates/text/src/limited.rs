use std::fmt::{self, Write};

/// Implements the constructor and the setter of an adapter with a maximum number of characters.
macro_rules! limited {
    ($adapter:ident) => {
        impl<T> $adapter<T> {
            /// Creates an adapter that shows the whole text.
            pub fn new(text: T) -> Self {
                Self {
                    text,
                    max_chars: usize::MAX,
                }
            }

            /// Sets the maximum number of characters shown. An escape counts as one character. A
            /// longer text is truncated and ends with `…`.
            #[must_use]
            pub fn with_max_chars(self, max_chars: usize) -> Self {
                Self { max_chars, ..self }
            }
        }
    };
}
pub(crate) use limited;

/// An output with a maximum number of characters that records whether there were more.
pub(crate) struct Limited<'a, 'f> {
    out: &'a mut fmt::Formatter<'f>,
    left: usize,
    is_cut: bool,
}

impl<'a, 'f> Limited<'a, 'f> {
    pub(crate) fn new(out: &'a mut fmt::Formatter<'f>, max_chars: usize) -> Self {
        Self {
            out,
            left: max_chars,
            is_cut: false,
        }
    }

    /// Writes `shown` in place of one character.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached. The error stops the writer, so that a long text
    /// takes no more time than the part of it that is shown.
    pub(crate) fn put(&mut self, shown: impl fmt::Display) -> fmt::Result {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            self.is_cut = true;
            fmt::Error
        })?;

        write!(self.out, "{shown}")
    }

    /// Ends the text with `…` if it was truncated; `written` is the result of writing it.
    pub(crate) fn end(self, written: fmt::Result) -> fmt::Result {
        // The error was only to stop the writer.
        if self.is_cut {
            self.out.write_char('…')
        } else {
            written
        }
    }
}
