//! Reads JSON as models write it. Every correction is reported.
//!
//! The text is rewritten as strict JSON in one pass, and then parsed. A text that is cut off ends
//! before the last value that may be incomplete, and its brackets are closed.

mod containers;
mod ending;
mod lines;
mod values;
mod words;

use std::ops::Range;

use self::words::comment_length;
use crate::ask::{Repair, RepairKind};

pub(super) use self::lines::Lines;

/// The maximum nesting of objects and lists.
const MAX_DEPTH: usize = 64;

/// The maximum number of repairs that are reported.
const MAX_REPAIRS: usize = 100;

/// What precedes the next token.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Before {
    Bracket,
    Comma,
    Colon,
    /// A value, or a key without its colon.
    Value,
}

/// An open object or list.
struct Open {
    is_list: bool,
    /// The length of the rewritten JSON before the current item, including its comma.
    item: usize,
    /// Whether the current item of an object has its colon.
    has_colon: bool,
}

/// Rewrites a text.
pub(super) struct Mender<'t> {
    text: &'t str,
    pub(super) at: usize,
    line: usize,
    /// Where the current line begins in the text.
    line_start: usize,
    /// How many bytes of the current line precede the text.
    column: usize,
    /// The last token that was passed.
    last: Range<usize>,
    pub(super) json: String,
    open: Vec<Open>,
    before: Before,
    pub(super) repairs: Vec<Repair>,
    pub(super) lines: Lines,
    pub(super) doubt: Option<&'static str>,
    /// Whether a bracket closed one of the other kind.
    pub(super) closed_other: bool,
    /// Whether the text ends inside quotes.
    ends_in_quotes: bool,
}

impl<'t> Mender<'t> {
    pub(super) fn new(text: &'t str, line: usize, column: usize) -> Self {
        Self {
            text,
            at: 0,
            line,
            line_start: 0,
            column,
            last: 0..0,
            json: String::new(),
            open: Vec::new(),
            before: Before::Value,
            repairs: Vec::new(),
            lines: Lines::default(),
            doubt: None,
            closed_other: false,
            ends_in_quotes: false,
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Rewrites the object. Returns whether it ends before the text does, or `None` if it is nested
    /// too deeply.
    pub(super) fn run(&mut self) -> Option<bool> {
        loop {
            self.skip_blanks();
            let Some(next) = self.rest().chars().next() else {
                return Some(false);
            };

            let is_written = match next {
                '{' | '[' => self.open_bracket(next)?,
                '}' | ']' => {
                    self.close_bracket(next);
                    true
                }
                ',' => self.comma(),
                ':' => self.colon(),
                '"' | '\'' | '“' => self.quoted(next),
                _ => self.bare(),
            };

            if !is_written {
                return Some(false);
            }
            if self.open.is_empty() {
                return Some(true);
            }
        }
    }

    /// Reports a correction of a part of the text.
    fn report(&mut self, kind: RepairKind, part: Range<usize>, what: &str) {
        if self.repairs.len() >= MAX_REPAIRS {
            return;
        }

        let repair = Repair::new(kind, self.line, what);
        self.repairs.push(match self.columns(part) {
            Some(columns) => repair.with_columns(columns),
            None => repair,
        });
    }

    /// Reports a correction whose result may not be what the model meant.
    fn report_doubt(&mut self, part: Range<usize>, what: &'static str) {
        self.doubt.get_or_insert(what);
        self.report(RepairKind::Json, part, what);
    }

    /// Returns the columns of a part of the text, up to the end of the current line. `None` if it
    /// doesn't begin there.
    fn columns(&self, part: Range<usize>) -> Option<Range<usize>> {
        let start = part.start.checked_sub(self.line_start)?;
        let line = self.text.get(self.line_start..)?;
        let end = line.find('\n').unwrap_or(line.len());
        let end = end.min(part.end - self.line_start);

        let is_here = start <= end;
        is_here.then(|| self.column + start..self.column + end)
    }

    /// Begins a token on the current line.
    fn begin_token(&mut self) {
        self.lines.begin(self.json.len(), self.line);
    }

    fn truncate(&mut self, length: usize) {
        self.json.truncate(length);
        self.lines.truncate(length);
    }

    fn advance(&mut self, bytes: usize) {
        let passed = self.rest().get(..bytes).unwrap_or_default();
        if let Some(last) = passed.rfind('\n') {
            self.line += passed.matches('\n').count();
            self.line_start = self.at + last + 1;
            self.column = 0;
        }

        self.at += bytes;
    }

    /// Passes a token.
    fn pass(&mut self, bytes: usize) {
        self.last = self.at..self.at + bytes;
        self.advance(bytes);
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            self.advance(blanks);

            // After a colon, it may be a text without quotes, such as `# 1`.
            let is_comment = !self.rest().starts_with('#') || self.before != Before::Colon;
            let Some(length) = comment_length(self.rest()).filter(|_| is_comment) else {
                return;
            };

            let comment = self.at..self.at + length;
            self.report(RepairKind::Json, comment, "left out a comment");
            self.advance(length);
        }
    }
}
