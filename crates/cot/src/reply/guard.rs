//! Refuses YAML that no reply needs and that the YAML library pays dearly for: anchors and aliases
//! (they multiply), and deep nesting (quadratic in flow style, and recursion in what reads it).
//!
//! It reads a block once, line by line, and knows just enough YAML to tell structure from text:
//! block scalars, quoted scalars, and plain scalars that go on over several lines. A parser of its
//! own would be a second opinion on every reply; this only ever says no, with a place.

/// Levels of nesting that are read. A plan of the greatest depth takes two a step.
const MAX_NESTING: usize = 2 * cogwork_plan::MAX_DEPTH + 8;

#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: &'static str,
}

pub(super) fn check(block: &str) -> Result<(), Refusal> {
    let mut guard = Guard { levels: Vec::new(), flow: 0, open: Open::Nothing };
    for (number, line) in (1..).zip(block.split('\n')) {
        guard.line(line.as_bytes()).map_err(|(offset, message)| {
            let column = line.get(..offset).map_or(offset, |before| before.chars().count()) + 1;
            Refusal { line: number, column, message }
        })?;
    }
    Ok(())
}

struct Guard {
    /// Columns of the block collections around the current line, each deeper than the one before.
    levels: Vec<usize>,
    /// Brackets that are open.
    flow: usize,
    open: Open,
}

/// A scalar that goes on in the next line.
#[derive(Clone, Copy)]
enum Open {
    Nothing,
    /// A block or plain scalar that belongs to a collection at this column: it goes on while lines
    /// are indented more. Without a collection it goes on to the end of the document.
    Indented(Option<usize>),
    /// A scalar in these quotes.
    Quoted(u8),
}

const ANCHOR: &str = "anchors (`&name`) are not read; put the text in quotes";
const ALIAS: &str = "aliases (`*name`) are not read; put the text in quotes";
const NESTING: &str = "the nesting is too deep; plans may have at most 32 levels of steps";

type Checked = Result<(), (usize, &'static str)>;

impl Guard {
    fn line(&mut self, line: &[u8]) -> Checked {
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        let mut at = 0;
        match self.open {
            Open::Nothing => {}
            Open::Indented(column) => {
                let blank = line.iter().all(u8::is_ascii_whitespace);
                let inside = match column {
                    Some(column) => indent > column,
                    None => !line.starts_with(b"---") && !line.starts_with(b"..."),
                };
                if blank || inside {
                    return Ok(());
                }
                self.open = Open::Nothing;
            }
            Open::Quoted(quote) => match end_of_quote(line, 0, quote) {
                Some(end) => {
                    self.open = Open::Nothing;
                    at = end;
                }
                None => return Ok(()),
            },
        }
        if at == 0 {
            at = indent;
            if self.flow == 0 && at < line.len() {
                while self.levels.last().is_some_and(|column| *column > indent) {
                    self.levels.pop();
                }
            }
        }
        self.tokens(line, at)
    }

    /// Goes through a line from a place where a value or a key may begin.
    fn tokens(&mut self, line: &[u8], mut at: usize) -> Checked {
        // The column of the collection that a scalar beginning here belongs to.
        let mut parent = None;
        while let Some(byte) = line.get(at).copied() {
            let spaced = line.get(at + 1).is_none_or(u8::is_ascii_whitespace);
            match byte {
                b' ' | b'\t' | b'\r' | b',' => at += 1,
                b'-' | b'?' | b':' if spaced => {
                    if self.flow == 0 && byte != b':' {
                        self.level(at)?;
                        parent = Some(at);
                    }
                    at += 1;
                }
                b'&' if !spaced => return Err((at, ANCHOR)),
                b'*' if !spaced => return Err((at, ALIAS)),
                b'#' => return Ok(()),
                b'[' | b'{' => {
                    self.flow += 1;
                    if self.flow + self.levels.len() > MAX_NESTING {
                        return Err((at, NESTING));
                    }
                    at += 1;
                }
                b']' | b'}' => {
                    self.flow = self.flow.saturating_sub(1);
                    at += 1;
                }
                b'!' => {
                    at += line
                        .get(at..)
                        .unwrap_or_default()
                        .iter()
                        .take_while(|byte| !byte.is_ascii_whitespace())
                        .count()
                }
                b'|' | b'>' if self.flow == 0 => {
                    self.open = Open::Indented(parent);
                    return Ok(());
                }
                b'"' | b'\'' => {
                    let Some(end) = end_of_quote(line, at + 1, byte) else {
                        self.open = Open::Quoted(byte);
                        return Ok(());
                    };
                    if self.flow == 0 && line.get(end) == Some(&b':') {
                        self.level(at)?;
                        parent = Some(at);
                    }
                    at = end;
                }
                _ => {
                    let end = self.end_of_plain(line, at);
                    if line.get(end) == Some(&b':') {
                        if self.flow == 0 {
                            self.level(at)?;
                            parent = Some(at);
                        }
                    } else if self.flow == 0 {
                        self.open = Open::Indented(parent);
                        return Ok(());
                    }
                    at = end;
                }
            }
        }
        Ok(())
    }

    /// A key or a dash at this column: inside the collections to its left.
    fn level(&mut self, column: usize) -> Checked {
        if self.levels.last().is_none_or(|last| *last < column) {
            self.levels.push(column);
        }
        if self.levels.len() > MAX_NESTING { Err((column, NESTING)) } else { Ok(()) }
    }

    /// Where a plain scalar ends: at `: `, at a comment, in a flow collection also at its signs.
    fn end_of_plain(&self, line: &[u8], from: usize) -> usize {
        let mut at = from + 1;
        while let Some(byte) = line.get(at) {
            let spaced = line.get(at + 1).is_none_or(u8::is_ascii_whitespace);
            let ends = match byte {
                b':' => spaced,
                b'#' => line.get(at - 1).is_some_and(u8::is_ascii_whitespace),
                b',' | b'[' | b']' | b'{' | b'}' => self.flow > 0,
                _ => false,
            };
            if ends {
                return at;
            }
            at += 1;
        }
        at
    }
}

/// The offset behind the closing quote, if it stands in this line.
fn end_of_quote(line: &[u8], mut at: usize, quote: u8) -> Option<usize> {
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
