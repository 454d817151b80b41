//! The lines of a block, with their places in the raw text.

use std::borrow::Cow;
use std::ops::Range;

use cogwork_read::charge;

use super::keys::is_blank;

/// Columns between tabs: enough that a tab is deeper than the dash of most lists.
const TAB: usize = 4;

/// A line of a block, or one that was made of a piece of a line.
#[derive(Debug, Clone)]
pub(super) struct Line<'t> {
    /// In the raw reply, from 1.
    pub(super) number: usize,
    /// Columns before the text.
    pub(super) indent: usize,
    raw: Cow<'t, str>,
    /// The text without the blanks around it, in `raw`.
    text: Range<usize>,
    /// Columns before `raw`, in a line that was made.
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
        charge(start + raw.len() - end + 1);

        Self {
            number,
            indent,
            raw,
            text: start..end.max(start),
            padding,
        }
    }

    /// The text without the blanks around it.
    pub(super) fn text(&self) -> &str {
        self.raw.get(self.text.clone()).unwrap_or_default()
    }

    /// Where the text begins in the raw line, in bytes.
    pub(super) fn text_offset(&self) -> usize {
        self.text.start
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether something other than spaces indents the text, or fills a line without one.
    pub(super) fn has_odd_blanks(&self) -> bool {
        charge(self.text.start);
        self.raw
            .get(..self.text.start)
            .is_some_and(|blanks| blanks.contains(|c| c != ' '))
    }

    /// The line without so many columns of indentation.
    pub(super) fn dedented(&self, columns: usize) -> Cow<'_, str> {
        if columns < self.padding {
            let padding = " ".repeat(self.padding - columns);
            charge(padding.len() + self.raw.len());
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

        charge(from + 1);
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

/// Returns the lines of a block that starts at this line of the raw reply. A carriage return alone
/// ends a line in YAML, but does not count for line numbers.
pub(super) fn split(block: &str, first: usize) -> Vec<Line<'_>> {
    charge(block.len());
    let numbered = (first..).zip(block.split('\n'));
    numbered
        .flat_map(|(number, line)| {
            let line = line.strip_suffix('\r').unwrap_or(line);
            line.split('\r').map(move |part| Line::new(number, part))
        })
        .collect()
}
