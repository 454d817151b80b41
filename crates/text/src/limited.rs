use std::fmt::{self, Write};

/// An output that takes a maximum number of characters and notes whether more would have followed.
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
    /// When there is no room. The error stops whoever writes, so that a long text costs no more than what is
    /// shown of it.
    pub(crate) fn put(&mut self, shown: impl fmt::Display) -> fmt::Result {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            self.is_cut = true;
            fmt::Error
        })?;

        write!(self.out, "{shown}")
    }

    /// Ends the text with `…` where it was cut; `written` is what came of writing it.
    pub(crate) fn end(self, written: fmt::Result) -> fmt::Result {
        if self.is_cut {
            self.out.write_char('…')
        } else {
            written
        }
    }
}
