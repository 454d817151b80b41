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

/// Shows a text as `show` writes each of its characters. If that are more than `max_chars`, the text
/// is truncated and ends with `…`.
pub(crate) fn write_limited(
    f: &mut fmt::Formatter<'_>,
    text: impl fmt::Display,
    max_chars: usize,
    show: impl FnMut(&mut Limited<'_, '_>, char) -> fmt::Result,
) -> fmt::Result {
    let out = Limited {
        out: f,
        left: max_chars,
        is_cut: false,
    };
    let mut characters = Characters { out, show };
    let written = write!(characters, "{text}");

    // The error was only to stop the writer.
    let out = characters.out;
    if out.is_cut {
        out.out.write_char('…')
    } else {
        written
    }
}

/// An output with a maximum number of characters that records whether there were more.
pub(crate) struct Limited<'a, 'f> {
    out: &'a mut fmt::Formatter<'f>,
    left: usize,
    is_cut: bool,
}

impl Limited<'_, '_> {
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
}

struct Characters<'a, 'f, S> {
    out: Limited<'a, 'f>,
    show: S,
}

impl<S> Write for Characters<'_, '_, S>
where
    S: FnMut(&mut Limited<'_, '_>, char) -> fmt::Result,
{
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut characters = text.chars();
        characters.try_for_each(|character| (self.show)(&mut self.out, character))
    }
}
