//! Telling structure from text, line by line: block scalars, quoted scalars, and plain scalars that go on over
//! several lines. It must never take for text what the parser takes for structure.

use super::{Refused, YamlGuard};
use crate::charge;

/// What has been seen of a text so far.
pub(super) struct Scan {
    guard: YamlGuard,
    items: usize,
    /// The columns of the block collections around the current line, each deeper than the one before.
    levels: Vec<usize>,
    /// How many brackets are open.
    flow: usize,
    open: Open,
    document: Document,
}

/// A scalar that may go on in the next line.
#[derive(Clone, Copy)]
enum Open {
    Nothing,
    /// A block scalar in a block collection at this column: it goes on while lines are indented more.
    /// Outside of any it goes on to the end of the document.
    Block(Option<usize>),
    /// A plain scalar, which goes on alike.
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

/// What is refused, and its offset in the line.
pub(super) struct Stop {
    pub(super) at: usize,
    pub(super) reason: Refused,
}

type Checked = Result<(), Stop>;

fn stop<T>(at: usize, reason: Refused) -> Result<T, Stop> {
    Err(Stop { at, reason })
}

impl Scan {
    pub(super) fn new(guard: YamlGuard) -> Self {
        Self {
            guard,
            items: 0,
            levels: Vec::new(),
            flow: 0,
            open: Open::Nothing,
            document: Document::Before,
        }
    }

    pub(super) fn line(&mut self, line: &[u8]) -> Checked {
        charge(line.len());
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

        // A comment says nothing about indentation.
        if self.flow == 0 && line.get(first) != Some(&b'#') {
            while self.levels.last().is_some_and(|column| *column > indent) {
                self.levels.pop();
            }
        }

        self.tokens(line, first)
    }

    /// A further line of a scalar in quotes.
    fn further_quoted(&mut self, line: &[u8], quote: u8) -> Checked {
        let Some(end) = end_of_quote(line, 0, quote) else {
            return Ok(());
        };

        self.open = Open::Nothing;
        self.tokens(line, end)
    }

    /// A further line of a block scalar or a plain one.
    fn further_text(&mut self, line: &[u8], first: usize) -> Checked {
        if matches!(self.open, Open::Block(_)) {
            return Ok(());
        }

        let is_comment = line.get(first) == Some(&b'#');
        let Some(comment) = comment_behind(line, first) else {
            return Ok(());
        };

        if self.guard.allows_trailing_comments {
            // A comment ends the scalar.
            self.open = Open::Nothing;
            Ok(())
        } else if is_comment {
            Ok(())
        } else {
            stop(comment, Refused::Comment)
        }
    }

    /// A further line of a plain scalar in brackets.
    fn further_flow(&mut self, line: &[u8], first: usize) -> Checked {
        let end = self.end_of_plain(line, first);
        let is_comment = line.get(end) == Some(&b'#');

        if end > first && is_comment && !self.guard.allows_trailing_comments {
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

    /// Goes through a line from a place where a value or a key may begin.
    fn tokens(&mut self, line: &[u8], mut at: usize) -> Checked {
        // Where the anchor before the next key begins: it is a part of the key.
        let mut anchor = None;

        while let Some(byte) = line.get(at).copied() {
            if is_blank(&byte) {
                charge(1);
                at += 1;
                continue;
            }

            // The parser looks at all open brackets for each token.
            charge(1 + self.flow);

            if byte == b'#' {
                return Ok(());
            }

            if self.document == Document::Ended {
                return stop(at, Refused::Documents);
            }

            self.document = Document::Begun;

            let in_flow = self.flow > 0;
            let is_spaced = line.get(at + 1).is_none_or(is_blank);
            match byte {
                b'&' if self.guard.allows_anchors => {
                    anchor = anchor.or(Some(at));
                    at = end_of_name(line, at + 1);
                }
                b'&' => return stop(at, Refused::Anchor),
                b'*' if self.guard.allows_anchors => {
                    let end = end_of_name(line, at + 1);
                    at = self.key(line, anchor.take().unwrap_or(at), end)?;
                }
                b'*' => return stop(at, Refused::Alias),
                b'!' => return stop(at, Refused::Tag),
                b'%' if at == 0 => return stop(at, Refused::Directive),
                b'?' if is_spaced || in_flow => return stop(at, Refused::ExplicitKey),
                b':' if is_spaced && !in_flow => return stop(at, Refused::NoKey),
                b':' | b',' if in_flow => at += 1,
                b'-' if is_spaced => {
                    self.count_item(at)?;
                    if !in_flow {
                        self.level(at)?;
                    }

                    anchor = None;
                    at += 1;
                }
                b'[' | b'{' => {
                    anchor = None;
                    if byte == b'{' {
                        self.count_item(at)?;
                    }

                    self.flow += 1;
                    self.check_nesting(at)?;
                    at += 1;
                }
                b']' | b'}' => {
                    self.flow = self.flow.saturating_sub(1);
                    at += 1;
                }
                b'|' | b'>' if !in_flow => {
                    self.open = Open::Block(self.levels.last().copied());
                    return Ok(());
                }
                b'"' | b'\'' => {
                    let Some(end) = end_of_quote(line, at + 1, byte) else {
                        self.open = Open::Quoted(byte);
                        return Ok(());
                    };

                    at = self.key(line, anchor.take().unwrap_or(at), end)?;
                }
                // The parser skips one at the beginning of a line.
                _ if is_byte_order_mark(line, at) => return stop(at, Refused::ByteOrderMark),
                _ => {
                    let end = self.end_of_plain(line, at + 1);
                    let is_comment = line.get(end) == Some(&b'#');
                    if is_comment && !self.guard.allows_trailing_comments {
                        return stop(end, Refused::Comment);
                    }

                    if end == line.len() {
                        self.open = if in_flow {
                            Open::Flow
                        } else {
                            Open::Plain(self.levels.last().copied())
                        };
                        return Ok(());
                    }

                    at = self.key(line, anchor.take().unwrap_or(at), end)?;
                }
            }
        }

        Ok(())
    }

    /// Returns where to go on behind a scalar: behind its colon if it is a key of block style.
    fn key(&mut self, line: &[u8], from: usize, end: usize) -> Result<usize, Stop> {
        let blanks = line
            .iter()
            .skip(end)
            .take_while(|byte| is_blank(byte))
            .count();

        charge(blanks);

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
        let max = self.guard.max_items;
        if self.items > max {
            stop(at, Refused::Items(max))
        } else {
            Ok(())
        }
    }

    /// A key or a dash at this column: inside the collections to its left.
    fn level(&mut self, column: usize) -> Checked {
        if self.levels.last().is_none_or(|last| *last < column) {
            self.levels.push(column);
        }
        self.check_nesting(column)
    }

    fn check_nesting(&self, at: usize) -> Checked {
        let max = self.guard.max_nesting;
        if self.flow + self.levels.len() > max {
            stop(at, Refused::Nesting(max))
        } else {
            Ok(())
        }
    }

    /// Returns where a plain scalar ends: at `: `, at a comment, in a flow collection also at its signs.
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

        let end = (from..line.len()).find(ends).unwrap_or(line.len());
        charge(end.saturating_sub(from));
        end
    }
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_byte_order_mark(line: &[u8], at: usize) -> bool {
    line.get(at..)
        .is_some_and(|rest| rest.starts_with("\u{feff}".as_bytes()))
}

fn document_marker(line: &[u8]) -> Option<&'static str> {
    let marker = ["---", "..."]
        .into_iter()
        .find(|marker| line.starts_with(marker.as_bytes()))?;
    line.get(marker.len())
        .is_none_or(is_blank)
        .then_some(marker)
}

/// Returns the offset of the sign of a comment in a further line of a plain scalar.
fn comment_behind(line: &[u8], first: usize) -> Option<usize> {
    charge(line.len().saturating_sub(first));

    if line.get(first) == Some(&b'#') {
        return Some(first);
    }

    let mut pairs = line.windows(2).skip(first);
    let before = pairs.position(|pair| matches!(pair, [b' ' | b'\t', b'#']))?;
    Some(first + before + 1)
}

/// Returns the offset behind the name of an anchor or an alias.
fn end_of_name(line: &[u8], from: usize) -> usize {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let length = line.iter().skip(from).take_while(is_part).count();
    charge(length);

    from + length
}

/// Returns the offset behind the closing quote, if it stands in this line.
fn end_of_quote(line: &[u8], from: usize, quote: u8) -> Option<usize> {
    let end = closing_quote(line, from, quote);
    charge(end.unwrap_or(line.len()).saturating_sub(from));
    end
}

fn closing_quote(line: &[u8], mut at: usize, quote: u8) -> Option<usize> {
    loop {
        let byte = *line.get(at)?;
        let next = line.get(at + 1);
        match byte {
            b'\\' if quote == b'"' => at += 2,
            b'\'' if quote == b'\'' && next == Some(&b'\'') => at += 2,
            _ if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}
