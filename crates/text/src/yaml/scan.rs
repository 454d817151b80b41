//! Distinguishes structure from text, line by line: block scalars, quoted scalars, and multi-line
//! plain scalars. It must never mistake structure for text.

use super::lexeme::{comment_behind, document_marker, end_of_quote, is_blank, is_byte_order_mark};
use super::refusal::Refused;

/// What a scan allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) max_nesting: usize,
    pub(super) max_items: usize,
    pub(super) allows_trailing_comments: bool,
}

/// The state after the text so far.
pub(super) struct Scan {
    rules: Rules,
    items: usize,
    /// The columns of the block collections around the current line, in increasing order.
    levels: Vec<usize>,
    /// The number of open brackets.
    flow: usize,
    open: Open,
    document: Document,
}

/// A scalar that may continue on the next line.
#[derive(Clone, Copy)]
enum Open {
    Nothing,
    /// A block scalar in a block collection at this column. It continues while lines are indented
    /// further; outside of any collection, until the end of the document.
    Block(Option<usize>),
    /// A plain scalar, which continues under the same condition.
    Plain(Option<usize>),
    /// A plain scalar in a flow collection.
    Flow,
    /// A scalar in these quotes.
    Quoted(u8),
}

#[derive(Clone, Copy, PartialEq)]
enum Document {
    Before,
    Begun,
    Ended,
}

/// A part of a line, with its end.
enum Token {
    /// A sign of a collection.
    Sign,
    /// A scalar that may be a key.
    Scalar(usize),
    /// A scalar that may continue on the next line.
    Open(Open),
}

/// The refused construct and its offset in the line.
pub(super) struct Stop {
    pub(super) at: usize,
    pub(super) reason: Refused,
}

type Checked = Result<(), Stop>;

fn stop<T>(at: usize, reason: Refused) -> Result<T, Stop> {
    Err(Stop { at, reason })
}

impl Scan {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules,
            items: 0,
            levels: Vec::new(),
            flow: 0,
            open: Open::Nothing,
            document: Document::Before,
        }
    }

    pub(super) fn line(&mut self, line: &[u8]) -> Checked {
        let marker = document_marker(line);
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        let first = line.iter().position(|byte| !is_blank(byte));

        match self.open {
            Open::Nothing => {}
            Open::Quoted(quote) => return self.further_quoted(line, quote),
            Open::Block(column) | Open::Plain(column) => {
                let Some(first) = first else { return Ok(()) };
                if column.map_or(marker.is_none(), |column| indent > column) {
                    return self.further_text(line, first);
                }
            }
            Open::Flow if marker.is_some() => {}
            Open::Flow => {
                let Some(first) = first else { return Ok(()) };
                return self.further_flow(line, first);
            }
        }

        self.open = Open::Nothing;
        if let Some(marker) = marker {
            return self.document(marker, line);
        }

        let Some(first) = first else { return Ok(()) };

        // The indentation of comments is meaningless.
        if self.flow == 0 && line.get(first) != Some(&b'#') {
            while self.levels.last().is_some_and(|column| *column > indent) {
                self.levels.pop();
            }
        }

        self.tokens(line, first)
    }

    /// Continues a quoted scalar.
    fn further_quoted(&mut self, line: &[u8], quote: u8) -> Checked {
        let Some(end) = end_of_quote(line, 0, quote) else {
            return Ok(());
        };

        self.open = Open::Nothing;
        self.tokens(line, end)
    }

    /// Continues a block scalar or a plain scalar.
    fn further_text(&mut self, line: &[u8], first: usize) -> Checked {
        if matches!(self.open, Open::Block(_)) {
            return Ok(());
        }

        let is_comment = line.get(first) == Some(&b'#');
        let Some(comment) = comment_behind(line, first) else {
            return Ok(());
        };

        if self.rules.allows_trailing_comments {
            // A comment ends the scalar.
            self.open = Open::Nothing;
            Ok(())
        } else if is_comment {
            Ok(())
        } else {
            stop(comment, Refused::Comment)
        }
    }

    /// Continues a plain scalar in brackets.
    fn further_flow(&mut self, line: &[u8], first: usize) -> Checked {
        let end = self.end_of_plain(line, first);
        let is_comment = line.get(end) == Some(&b'#');

        if end > first && is_comment && !self.rules.allows_trailing_comments {
            return stop(end, Refused::Comment);
        }

        if end == line.len() {
            return Ok(());
        }

        self.open = Open::Nothing;
        self.tokens(line, end)
    }

    fn document(&mut self, marker: &str, line: &[u8]) -> Checked {
        self.document = match (marker, self.document) {
            ("---", Document::Before) => Document::Begun,
            ("---", _) => return stop(0, Refused::Documents),
            _ => Document::Ended,
        };

        self.levels.clear();
        self.tokens(line, marker.len())
    }

    /// Scans a line from a place where a value or a key may begin.
    fn tokens(&mut self, line: &[u8], mut at: usize) -> Checked {
        while let Some(byte) = line.get(at).copied() {
            if is_blank(&byte) {
                at += 1;
                continue;
            }

            // The parser examines all open brackets for each token.

            if byte == b'#' {
                return Ok(());
            }

            if self.document == Document::Ended {
                return stop(at, Refused::Documents);
            }

            self.document = Document::Begun;
            match self.token(line, at, byte)? {
                Token::Sign => at += 1,
                Token::Scalar(end) => at = self.key(line, at, end)?,
                Token::Open(open) => {
                    self.open = open;
                    return Ok(());
                }
            }
        }

        Ok(())
    }

    /// Scans the token that begins with `byte`.
    fn token(&mut self, line: &[u8], at: usize, byte: u8) -> Result<Token, Stop> {
        let in_flow = self.flow > 0;
        let is_spaced = line.get(at + 1).is_none_or(is_blank);

        match byte {
            b'&' => stop(at, Refused::Anchor),
            b'*' => stop(at, Refused::Alias),
            b'!' => stop(at, Refused::Tag),
            b'%' if at == 0 => stop(at, Refused::Directive),
            b'?' if is_spaced || in_flow => stop(at, Refused::ExplicitKey),
            b':' if is_spaced && !in_flow => stop(at, Refused::NoKey),
            b':' | b',' if in_flow => Ok(Token::Sign),
            b'-' if is_spaced => self.dash(at),
            b'[' | b'{' => self.open_bracket(at, byte),
            b']' | b'}' => {
                self.flow = self.flow.saturating_sub(1);
                Ok(Token::Sign)
            }
            b'|' | b'>' if !in_flow => Ok(Token::Open(Open::Block(self.level_column()))),
            b'"' | b'\'' => Ok(end_of_quote(line, at + 1, byte)
                .map_or(Token::Open(Open::Quoted(byte)), Token::Scalar)),
            // The parser skips one at the beginning of a line.
            _ if is_byte_order_mark(line, at) => stop(at, Refused::ByteOrderMark),
            _ => self.plain(line, at),
        }
    }

    fn dash(&mut self, at: usize) -> Result<Token, Stop> {
        self.count_item(at)?;
        if self.flow == 0 {
            self.level(at)?;
        }

        Ok(Token::Sign)
    }

    fn open_bracket(&mut self, at: usize, byte: u8) -> Result<Token, Stop> {
        if byte == b'{' {
            self.count_item(at)?;
        }

        self.flow += 1;
        self.check_nesting(at)?;
        Ok(Token::Sign)
    }

    fn plain(&self, line: &[u8], at: usize) -> Result<Token, Stop> {
        let end = self.end_of_plain(line, at + 1);
        let is_comment = line.get(end) == Some(&b'#');
        if is_comment && !self.rules.allows_trailing_comments {
            return stop(end, Refused::Comment);
        }

        if end < line.len() {
            return Ok(Token::Scalar(end));
        }

        Ok(Token::Open(if self.flow > 0 {
            Open::Flow
        } else {
            Open::Plain(self.level_column())
        }))
    }

    fn level_column(&self) -> Option<usize> {
        self.levels.last().copied()
    }

    /// Returns the offset after a scalar, or after its colon if it is a key in block style.
    fn key(&mut self, line: &[u8], from: usize, end: usize) -> Result<usize, Stop> {
        let blanks = line
            .iter()
            .skip(end)
            .take_while(|byte| is_blank(byte))
            .count();

        let colon = end + blanks;
        let is_spaced = line.get(colon + 1).is_none_or(is_blank);
        if self.flow > 0 || line.get(colon) != Some(&b':') || !is_spaced {
            return Ok(end);
        }

        self.level(from)?;
        Ok(colon + 1)
    }

    fn count_item(&mut self, at: usize) -> Checked {
        self.items += 1;
        let max = self.rules.max_items;
        if self.items > max {
            stop(at, Refused::Items(max))
        } else {
            Ok(())
        }
    }

    /// Enters the collection of a key or a dash at this column.
    fn level(&mut self, column: usize) -> Checked {
        if self.levels.last().is_none_or(|last| *last < column) {
            self.levels.push(column);
        }
        self.check_nesting(column)
    }

    fn check_nesting(&self, at: usize) -> Checked {
        let max = self.rules.max_nesting;
        if self.flow + self.levels.len() > max {
            stop(at, Refused::Nesting(max))
        } else {
            Ok(())
        }
    }

    /// Returns the end of a plain scalar: at `: `, at a comment, or in a flow collection at its
    /// indicators.
    fn end_of_plain(&self, line: &[u8], from: usize) -> usize {
        let ends = |at: &usize| match line.get(*at) {
            Some(b':') => line.get(at + 1).is_none_or(is_blank),
            Some(b'#') => at
                .checked_sub(1)
                .and_then(|before| line.get(before))
                .is_none_or(is_blank),
            Some(b',' | b'[' | b']' | b'{' | b'}') => self.flow > 0,
            _ => false,
        };

        (from..line.len()).find(ends).unwrap_or(line.len())
    }
}
