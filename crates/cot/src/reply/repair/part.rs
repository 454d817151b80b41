//! Where in a line of the reply a repair was made.

use std::ops::Range;

use cogwork_typed::ask::{Repair, RepairKind};

use crate::reply::keys::is_blank;

/// The longest line in which a text is searched for, in bytes.
const SEARCHED: usize = 2_000;

/// The part of a line that was changed.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// These bytes of the line.
    At(Range<usize>),
    /// A text with which the line begins, after blanks and the signs of a list.
    First(String),
    /// A text with which the line ends.
    Last(String),
    /// The whole line, or a part that isn't known.
    Line,
}

/// The raw lines of a block.
pub(super) struct RawLines<'t> {
    lines: Vec<&'t str>,
    /// The number of the first line in the reply.
    first: usize,
    /// How many bytes of the first line precede the block.
    column: usize,
}

impl<'t> RawLines<'t> {
    pub(super) fn of(block: &'t str, first: usize, column: usize) -> Self {
        Self {
            lines: block.split('\n').collect(),
            first,
            column,
        }
    }

    /// Adds its columns to a repair, if they are known.
    pub(super) fn place(&self, repair: Repair, part: &Part) -> Repair {
        let Some(index) = repair.line.checked_sub(self.first) else {
            return repair;
        };
        let Some(line) = self.lines.get(index) else {
            return repair;
        };
        let found = part.within(line, repair.kind);
        let Some(found) = found.filter(|found| line.get(found.clone()).is_some()) else {
            return repair;
        };

        let before = if index == 0 { self.column } else { 0 };
        repair.with_columns(before + found.start..before + found.end)
    }
}

impl Part {
    fn within(&self, line: &str, kind: RepairKind) -> Option<Range<usize>> {
        let is_of_blanks = matches!(kind, RepairKind::Indentation | RepairKind::Blanks);

        match self {
            // A lone carriage return ends a line in YAML, so columns would count from there.
            Self::At(part) => (!line.contains('\r')).then(|| part.clone()),
            Self::First(text) => first(line, text).or_else(|| only(line, text)),
            Self::Last(text) => last(line, text).or_else(|| only(line, text)),
            Self::Line if is_of_blanks => Some(0..line.len() - unindented(line).len()),
            Self::Line => None,
        }
    }
}

fn unindented(line: &str) -> &str {
    line.trim_start_matches(is_blank)
}

/// Returns the place of a text at the start of a line.
fn first(line: &str, text: &str) -> Option<Range<usize>> {
    let is_sign = |c: char| is_blank(c) || c.is_ascii_digit() || "-*+•.)".contains(c);
    let rest = unindented(line);
    let rest = if rest.starts_with(text) {
        rest
    } else {
        rest.trim_start_matches(is_sign)
    };

    let start = line.len() - rest.len();
    let is_there = !text.is_empty() && rest.starts_with(text);
    is_there.then(|| start..start + text.len())
}

/// Returns the place of a text at the end of a line.
fn last(line: &str, text: &str) -> Option<Range<usize>> {
    let line = line.trim_end_matches(is_blank);

    let is_there = !text.is_empty() && line.ends_with(text);
    is_there.then(|| line.len() - text.len()..line.len())
}

/// Returns the place of a text that is in a line once.
fn only(line: &str, text: &str) -> Option<Range<usize>> {
    if line.len() > SEARCHED || text.is_empty() {
        return None;
    }

    let start = line.find(text)?;
    let is_only = line.rfind(text) == Some(start);
    is_only.then(|| start..start + text.len())
}
