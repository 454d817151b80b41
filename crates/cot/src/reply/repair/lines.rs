//! The lines of a block, and their places in the raw text.

use std::borrow::Cow;
use std::ops::Range;

use crate::reply::keys::is_blank;

/// The number of columns between tab stops, so that a tab is deeper than the dash of most lists.
const TAB: usize = 4;

/// A line of a block, or a line created from a part of one.
#[derive(Debug, Clone)]
pub(super) struct Line<'t> {
    /// The line number in the raw reply, from 1.
    pub(super) number: usize,
    /// The number of columns before the text.
    pub(super) indent: usize,
    raw: Cow<'t, str>,
    /// The trimmed text, inside `raw`.
    text: Range<usize>,
    /// The number of columns before `raw`, if the line was created from a part of another one.
    padding: usize,
}

impl<'t> Line<'t> {
    pub(super) fn new(number: usize, raw: &'t str) -> Self {
        Self::padded(number, 0, raw.into())
    }

    /// Creates a line at this column. Its indentation is not stored as text, because many deeply
    /// indented lines would take far more room than the reply.
    pub(super) fn made(number: usize, column: usize, text: String) -> Self {
        Self::padded(number, column, text.into())
    }

    fn padded(number: usize, padding: usize, raw: Cow<'t, str>) -> Self {
        let mut indent = padding;
        let mut start = raw.len();
        for (at, c) in raw.char_indices() {
            if !is_blank(c) {
                start = at;
                break;
            }
            indent = next_column(indent, c);
        }

        let end = raw.trim_end_matches(is_blank).len();

        Self {
            number,
            indent,
            raw,
            text: start..end.max(start),
            padding,
        }
    }

    /// Returns the trimmed text.
    pub(super) fn text(&self) -> &str {
        self.raw.get(self.text.clone()).unwrap_or_default()
    }

    /// Returns the offset of the text in the raw line, in bytes.
    pub(super) fn text_offset(&self) -> usize {
        self.text.start
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns whether the text is indented, or a line without text is filled, with anything other
    /// than spaces.
    pub(super) fn has_odd_blanks(&self) -> bool {
        self.raw
            .get(..self.text.start)
            .is_some_and(|blanks| blanks.contains(|c| c != ' '))
    }

    /// Returns the line without this number of columns of indentation.
    pub(super) fn dedented(&self, columns: usize) -> Cow<'_, str> {
        if columns < self.padding {
            let padding = " ".repeat(self.padding - columns);
            return Cow::Owned(padding + &self.raw);
        }

        let mut column = self.padding;
        let mut from = self.text.start;
        for (at, c) in self.raw.char_indices() {
            if column >= columns || !is_blank(c) {
                from = at;
                break;
            }
            column = next_column(column, c);
        }

        Cow::Borrowed(self.raw.get(from..).unwrap_or_default())
    }
}

fn next_column(column: usize, blank: char) -> usize {
    match blank {
        '\t' => (column / TAB + 1) * TAB,
        '\u{feff}' | '\u{200b}' => column,
        '\u{3000}' => column + 2,
        _ => column + 1,
    }
}

/// Returns the lines of a block that starts at this line of the raw reply. A lone carriage return
/// ends a line in YAML, but isn't counted in line numbers.
pub(super) fn split(block: &str, first: usize) -> Vec<Line<'_>> {
    let numbered = (first..).zip(block.split('\n'));
    numbered
        .flat_map(|(number, line)| {
            let line = line.strip_suffix('\r').unwrap_or(line);
            line.split('\r').map(move |part| Line::new(number, part))
        })
        .collect()
}
