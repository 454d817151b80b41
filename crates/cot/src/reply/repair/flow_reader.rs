//! Reads collections in flow style.

use std::ops::Range;

use cogwork_typed::ask::RepairKind;

use super::flow_node::{Node, Scalar};
use super::flow_text::{Place, before_bracket, in_quotes, plain};
use super::lines::Line;
use super::part::Part;
use super::repairs::Report;
use crate::reply::keys;

/// The maximum number of unclosed quotes whose end is guessed.
const MAX_UNCLOSED: usize = 8;

/// The lines, joined into one text.
pub(super) struct Joined {
    pub(super) text: String,
    /// The offset of each line.
    starts: Vec<usize>,
    /// The number of each line in the raw reply.
    numbers: Vec<usize>,
}

impl Joined {
    pub(super) fn new(lines: &[Line<'_>]) -> Self {
        let mut text = String::new();
        let mut starts = Vec::with_capacity(lines.len());

        for line in lines {
            starts.push(text.len());
            text.push_str(&line.dedented(0));
            text.push('\n');
        }

        let numbers = lines.iter().map(|line| line.number).collect();
        Self {
            text,
            starts,
            numbers,
        }
    }

    /// Returns the offset of a line and of the line after it.
    pub(super) fn bounds(&self, index: usize) -> (usize, usize) {
        let start = self.starts.get(index).copied().unwrap_or(0);
        let next = self.starts.get(index + 1).copied();
        (start, next.unwrap_or(self.text.len()))
    }
}

pub(super) struct Reader<'s, 'r> {
    source: &'s str,
    starts: &'s [usize],
    numbers: &'s [usize],
    pub(super) at: usize,
    open: bool,
    nesting: usize,
    report: &'r mut Report,
    /// The depth of the collection in which the text ended, if it ended inside one.
    cut: Option<usize>,
    /// The number of quotes whose end was guessed. It is limited, because each guess may cost a
    /// pass over the rest of the text.
    unclosed: usize,
}

impl<'s, 'r> Reader<'s, 'r> {
    pub(super) fn new(
        lines: &'s Joined,
        open: bool,
        nesting: usize,
        report: &'r mut Report,
    ) -> Self {
        Self {
            source: &lines.text,
            starts: &lines.starts,
            numbers: &lines.numbers,
            at: 0,
            open,
            nesting,
            report,
            cut: None,
            unclosed: 0,
        }
    }

    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Returns the current line in the raw reply.
    fn line(&self) -> usize {
        self.line_of(self.index_of(self.at))
    }

    fn index_of(&self, at: usize) -> usize {
        let after = self.starts.partition_point(|start| *start <= at);
        after.saturating_sub(1)
    }

    fn line_of(&self, index: usize) -> usize {
        self.numbers.get(index).copied().unwrap_or(1)
    }

    /// Adds a repair of a part of the source, up to the end of its first line.
    fn report(&mut self, kind: RepairKind, part: Range<usize>, what: &str) {
        let index = self.index_of(part.start);
        let line = self.line_of(index);
        let start = self.starts.get(index).copied().unwrap_or_default();

        let next = self.starts.get(index + 1).copied();
        let end = next.unwrap_or(self.source.len()).saturating_sub(1);
        let end = part.end.clamp(part.start, end.max(part.start));

        let columns = part.start.saturating_sub(start)..end.saturating_sub(start);
        self.report.add_part(kind, line, Part::At(columns), what);
    }

    pub(super) fn value(&mut self, depth: usize, place: Place) -> Option<Node> {
        if depth > self.nesting {
            return None;
        }
        match self.rest().chars().next() {
            Some('{') => self.map(depth),
            Some('[') => self.seq(depth),
            _ => {
                let (scalar, whole) = self.scalar(place);
                if !whole {
                    self.cut.get_or_insert(depth);
                }

                Some(Node::Scalar(scalar))
            }
        }
    }

    /// Moves to the next item of a collection that ends with `close`. Returns `false` at its end.
    ///
    /// `other` closes the other kind of collection.
    fn has_next(&mut self, depth: usize, close: char, other: char) -> bool {
        loop {
            self.skip_blanks();
            let Some(next) = self.rest().chars().next() else {
                self.cut.get_or_insert(depth);
                return false;
            };

            if next == close {
                self.at += 1;
                return false;
            }

            // The outer bracket closes here, so this collection was left unclosed.
            if next == other && depth > 0 {
                self.report(RepairKind::Json, self.at..self.at, "closed a bracket");
                return false;
            }

            if next != ',' && next != other {
                return true;
            }

            self.at += 1;
        }
    }

    fn map(&mut self, depth: usize) -> Option<Node> {
        let from = self.at;
        let line = self.line();
        self.at += 1;
        let mut pairs = Vec::new();

        while self.has_next(depth, '}', ']') {
            let (key, _) = self.scalar(Place::Key);
            self.skip_blanks();
            if self.rest().is_empty() {
                continue;
            }

            if !self.rest().starts_with(':') {
                let empty = Scalar {
                    line: key.line,
                    text: String::new(),
                    quoted: false,
                };

                pairs.push((key, Node::Scalar(empty)));
                continue;
            }

            self.at += 1;
            self.skip_blanks();
            let whole = self.cut.is_none();
            let value = self.value(depth + 1, Place::Value)?;

            // A scalar at the end of the text may be incomplete.
            if whole && self.cut.is_some() && matches!(value, Node::Scalar(_)) {
                self.cut = Some(depth);
                break;
            }

            pairs.push((key, value));
            self.comma('"');
        }

        Some(Node::Map {
            span: (from, self.at),
            line,
            pairs,
        })
    }

    fn seq(&mut self, depth: usize) -> Option<Node> {
        let from = self.at;
        self.at += 1;
        let mut items = Vec::new();

        while self.has_next(depth, ']', '}') {
            let line = self.line();
            let whole = self.cut.is_none();
            let item = self.value(depth + 1, Place::Item)?;

            // The collections around the incomplete step are kept.
            if whole && self.cut == Some(depth + 1) && !matches!(item, Node::Seq { .. }) {
                self.report.add(RepairKind::CutOff, line, CUT);
                break;
            }

            items.push(item);
            self.comma('{');
        }

        Some(Node::Seq {
            span: (from, self.at),
            items,
        })
    }

    /// Reads a key, a value or an item. Returns it together with whether it is complete.
    fn scalar(&mut self, place: Place) -> (Scalar, bool) {
        let line = self.line();
        let quote = self
            .rest()
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\'' | '“' | '”' | '‘'));

        let mut found = match quote {
            Some(quote) => in_quotes(self.rest(), quote, place),
            None => plain(self.rest(), place, self.open),
        };

        if quote.is_some() && found.cut && self.unclosed < MAX_UNCLOSED {
            self.unclosed += 1;
            found = before_bracket(self.rest()).unwrap_or(found);
        }

        let start = self.at;
        self.at += found.length;
        for (kind, what) in found.faults {
            self.report(kind, start..self.at, what);
        }

        let scalar = Scalar {
            line,
            text: found.text,
            quoted: quote.is_some() && place != Place::Key,
        };
        (scalar, !found.cut)
    }

    /// Reports a missing comma before the next item.
    fn comma(&mut self, next: char) {
        let end = self.at;
        self.skip_blanks();
        if self.rest().starts_with(next) {
            self.report(RepairKind::Json, end..end, "added a comma");
        }
    }

    /// Skips superfluous brackets and commas after the outermost collection.
    pub(super) fn leave_brackets(&mut self) {
        let rest = self.rest().trim_start_matches([' ', '\t']);
        let behind = rest.trim_start_matches([']', '}', ',']);

        if behind.len() < rest.len() {
            if rest.starts_with([']', '}']) {
                let start = self.source.len() - rest.len();
                let end = self.source.len() - behind.len();
                let what = "left out a bracket that closes nothing";
                self.report(RepairKind::Json, start..end, what);
            }

            self.at = self.source.len() - behind.len();
        }

        // This happens only once, because an incomplete collection extends to the end of the text.
        if self.cut.is_some() && !self.report.has(RepairKind::CutOff) {
            let end = self.source.trim_end().len();
            self.report(RepairKind::Json, end..end, "closed the brackets");
        }
    }

    /// Skips whitespace and comments, including `//` and `/* */`, which are invalid in both JSON
    /// and YAML.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(keys::is_blank);
            let blanks = rest.len() - trimmed.len();
            let line_end = || trimmed.find('\n').unwrap_or(trimmed.len());
            let skipped = if trimmed.starts_with("//") {
                line_end()
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else if trimmed.starts_with('#') {
                line_end()
            } else {
                0
            };

            let comment = trimmed.starts_with('/') && skipped > 0;
            self.at += blanks;

            if comment {
                let end = self.at + skipped;
                self.report(RepairKind::Json, self.at..end, "left out a comment");
            }

            self.at += skipped;
            if skipped == 0 {
                return;
            }
        }
    }
}

pub(super) const CUT: &str = "left out a step that was not written to its end";
