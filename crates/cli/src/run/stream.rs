//! A text that grows, without values from the environment.

/// The number of bytes that are held back. They contain at least 8 characters in any spelling, and
/// parts of values of that length are hidden.
const HELD: usize = 128;

/// How many places to try at which the text can be split.
const TRIED: usize = 64;

/// A growing text. A value from the environment may arrive in pieces, so the end of the text is
/// held back until it is clear that it isn't the beginning of one.
#[derive(Default)]
pub(crate) struct Growing {
    text: String,
}

impl Growing {
    /// Adds a piece, and returns what can be shown now.
    pub(crate) fn push(&mut self, piece: &str, hide: impl Fn(&str) -> String) -> String {
        self.text.push_str(piece);

        let Some(end) = self.text.len().checked_sub(HELD) else {
            return String::new();
        };
        // What is shown now plus what is shown later must be the whole text without secrets.
        let whole = hide(&self.text);

        let places = (0..=end).rev().filter(|at| self.text.is_char_boundary(*at));
        let split = places.take(TRIED).find_map(|at| {
            let (before, after) = self.text.split_at_checked(at)?;
            let shown = hide(before);

            // If a value spans this place, its two halves are hidden separately or not at all.
            (shown.clone() + &hide(after) == whole).then_some((at, shown))
        });

        let Some((at, shown)) = split else {
            return String::new();
        };
        self.text.drain(..at);
        shown
    }

    /// Ends the text, and returns the rest.
    pub(crate) fn end(&mut self, hide: impl Fn(&str) -> String) -> String {
        hide(&std::mem::take(&mut self.text))
    }
}
