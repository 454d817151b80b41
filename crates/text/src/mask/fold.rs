//! Texts in the form in which they are compared: each character with the bytes that encode it.

use std::ops::Range;

use super::escapes::{self, Unit, What};
use crate::is_invisible;

/// The mark of a truncated or shortened text.
const CUT: char = '…';

/// A character in the form in which it is compared, and the bytes of the text that encode it.
#[derive(Debug, Clone)]
pub(super) struct Sign {
    pub(super) character: char,
    pub(super) bytes: Range<usize>,
}

/// A place where a text may be truncated: its end, and each `…` in it.
#[derive(Debug)]
pub(super) struct Cut {
    /// The number of signs before it. If an escape may be truncated as well, there is a second cut
    /// with the signs before the escape.
    pub(super) signs: usize,
    /// The byte offset in the text.
    pub(super) byte: usize,
}

/// A text in the form in which it is compared.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) signs: Vec<Sign>,
    pub(super) cuts: Vec<Cut>,
}

impl Folded {
    /// Returns the text in all forms that are searched.
    pub(super) fn all_of(text: &str) -> impl Iterator<Item = Self> {
        #[cfg(feature = "host-names")]
        let host_names =
            super::host::decoded(text).map(|units| Self::of(units, text.len(), |_| false));
        #[cfg(not(feature = "host-names"))]
        let host_names = None;

        // A letter behind a backslash may also belong to the value, so this is a form by itself.
        let resolved = escapes::resolved(text);
        let unspaced = escapes::without_white_space(&resolved)
            .map(|units| Self::of(units, text.len(), is_passed_over));
        let decoded = Self::of(resolved, text.len(), is_passed_over);

        [Self::plain(text), decoded]
            .into_iter()
            .chain(unspaced)
            .chain(host_names)
    }

    /// Returns the text in lower case.
    pub(super) fn plain(text: &str) -> Self {
        Self::of(escapes::units(text), text.len(), |_| false)
    }

    /// Returns the text in lower case with its escapes decoded, and without characters that are
    /// escaped, replaced or omitted in many different ways when a text is quoted.
    pub(super) fn decoded(text: &str) -> Self {
        Self::of(escapes::resolved(text), text.len(), is_passed_over)
    }

    fn of(
        units: impl IntoIterator<Item = Unit>,
        end: usize,
        is_left_out: fn(char) -> bool,
    ) -> Self {
        let mut folded = Self::default();
        let mut escapes = Vec::new();

        for (place, Unit { what, bytes }) in units.into_iter().enumerate() {
            let What::Character(character) = what else {
                continue;
            };

            if character == CUT {
                folded.cut(bytes.start, &escapes);
            }

            let signs = folded.signs.len();
            escapes.retain(|escape: &Begun| escape.may_go_on_with(character, place));
            escapes.extend(escapes::begins(character).then_some(Begun { place, signs }));

            if !is_left_out(character) {
                let lower = character.to_lowercase();
                folded.signs.extend(lower.map(|character| Sign {
                    character,
                    bytes: bytes.clone(),
                }));
            }
        }

        folded.cut(end, &escapes);
        folded
    }

    fn cut(&mut self, byte: usize, escapes: &[Begun]) {
        let before_escapes = escapes.iter().map(|escape| escape.signs);
        let before = before_escapes.chain([self.signs.len()]);

        self.cuts.extend(before.map(|signs| Cut { signs, byte }));
    }
}

/// An escape that has begun.
struct Begun {
    /// Its position among the units.
    place: usize,
    /// The number of signs before it.
    signs: usize,
}

impl Begun {
    fn may_go_on_with(&self, character: char, place: usize) -> bool {
        escapes::goes_on_with(character) && place - self.place <= escapes::LONGEST
    }
}

/// White space, quotes and slashes are doubled, escaped or replaced in many ways. Invisible
/// characters may be omitted or replaced.
fn is_passed_over(character: char) -> bool {
    character.is_whitespace()
        || is_invisible(character)
        || matches!(
            character,
            '\\' | '/' | '+' | '"' | '\'' | char::REPLACEMENT_CHARACTER
        )
}
