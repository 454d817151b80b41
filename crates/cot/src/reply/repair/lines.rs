//! A block as lines that know where in the raw text they stand.

use std::borrow::Cow;

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
    /// Bytes before the text.
    start: usize,
}

impl<'t> Line<'t> {
    pub(super) fn new(number: usize, raw: impl Into<Cow<'t, str>>) -> Self {
        let raw = raw.into();
        let (mut indent, mut start) = (0, raw.len());
        for (at, c) in raw.char_indices() {
            if !is_blank(c) {
                start = at;
                break;
            }
            indent = next_column(indent, c);
        }
        Self { number, indent, raw, start }
    }

    /// The text without the blanks around it.
    pub(super) fn text(&self) -> &str {
        self.raw.get(self.start..).unwrap_or_default().trim_end_matches(is_blank)
    }

    pub(super) fn is_blank(&self) -> bool {
        self.start == self.raw.len()
    }

    /// Whether something other than spaces indents the text, or fills a line without one.
    pub(super) fn has_odd_blanks(&self) -> bool {
        self.raw.get(..self.start).is_some_and(|blanks| blanks.contains(|c| c != ' '))
    }

    /// The line without so many columns of indentation.
    pub(super) fn dedented(&self, columns: usize) -> &str {
        let (mut column, mut from) = (0, self.start);
        for (at, c) in self.raw.char_indices() {
            if column >= columns || !is_blank(c) {
                from = at;
                break;
            }
            column = next_column(column, c);
        }
        self.raw.get(from..).unwrap_or_default()
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

/// The lines of a block that begins in this line of the raw reply. A carriage return alone ends a
/// line for YAML, and is no line for who looks at the text.
pub(super) fn split(block: &str, first: usize) -> Vec<Line<'_>> {
    let numbered = (first..).zip(block.split('\n'));
    numbered
        .flat_map(|(number, line)| {
            let line = line.strip_suffix('\r').unwrap_or(line);
            line.split('\r').map(move |part| Line::new(number, part))
        })
        .collect()
}
