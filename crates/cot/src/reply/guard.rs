//! Refuses YAML that no reply needs and that the YAML library pays dearly for: anchors and aliases
//! (they multiply), deep nesting (quadratic in flow style, and recursion in what reads it),
//! directives (quadratic), and with them the other rare signs, so that what is left is small enough
//! to be followed exactly. Of comments it refuses those that were meant as text.
//!
//! It reads a block once, line by line, and knows just enough YAML to tell structure from text:
//! block scalars, quoted scalars, and plain scalars that go on over several lines. A parser of its
//! own would be a second opinion on every reply; this only ever says no, with a place. What matters
//! is that it never takes for text what the library takes for structure.

/// How much structure a block may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Levels of nesting: columns of block style and brackets of flow style.
    pub(crate) nesting: usize,
    /// Dashes of lists and brackets of mappings; each step has one or the other.
    pub(crate) steps: usize,
}

impl Default for Bounds {
    /// A plan of the greatest depth takes two levels a step.
    fn default() -> Self {
        Self { nesting: 2 * cogwork_plan::MAX_DEPTH + 8, steps: 10_000 }
    }
}

#[derive(Debug)]
pub(crate) struct Refusal {
    /// In bytes from the beginning of the block.
    pub(crate) offset: usize,
    pub(crate) message: &'static str,
}

pub(crate) fn check(block: &str, bounds: Bounds) -> Result<(), Refusal> {
    if let Some((offset, _)) = block.char_indices().find(|(_, c)| !is_allowed(*c)) {
        return Err(Refusal { offset, message: CONTROL });
    }
    let mut guard = Guard {
        bounds,
        steps: 0,
        levels: Vec::new(),
        flow: 0,
        open: Open::Nothing,
        document: Document::Before,
    };
    let mut offset = 0;
    for line in block.split_inclusive(is_break) {
        guard
            .line(line.trim_end_matches(is_break).as_bytes())
            .map_err(|(at, message)| Refusal { offset: offset + at, message })?;
        offset += line.len();
    }
    Ok(())
}

/// YAML 1.1 has more line breaks than most know, and structure may follow each.
fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_allowed(c: char) -> bool {
    c == '\t' || is_break(c) || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'))
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

struct Guard {
    bounds: Bounds,
    /// Steps seen so far.
    steps: usize,
    /// Columns of the block collections around the current line, each deeper than the one before.
    levels: Vec<usize>,
    /// Brackets that are open.
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

const ANCHOR: &str = "anchors (`&name`) are not read; put the text in quotes";
const ALIAS: &str = "aliases (`*name`) are not read; put the text in quotes";
const TAG: &str = "tags (`!name`) are not read; put the text in quotes";
const DIRECTIVE: &str = "directives (`%NAME`) are not read; put the text in quotes";
const EXPLICIT_KEY: &str = "keys after a `?` are not read; put the text in quotes";
const NO_KEY: &str = "there is no key before this `:`; expected `key: value`";
const NESTING: &str = "the nesting is too deep; plans may have at most 32 levels of steps";
const STEPS: &str = "the block has more steps than are read; expected a shorter plan";
const DOCUMENTS: &str = "the block has more than one YAML document; expected one";
const CONTROL: &str = "control characters are not read; expected plain text";
const COMMENT: &str =
    "a ` #` begins a comment, and the text after it would be lost; put the text in double quotes";
const MARK: &str = "a byte order mark is not read here; put the text in quotes";

/// The offset in the line, and why it is refused.
type Checked = Result<(), (usize, &'static str)>;

impl Guard {
    fn line(&mut self, line: &[u8]) -> Checked {
        let marker = ["---", "..."].into_iter().find(|marker| line.starts_with(marker.as_bytes()));
        let marker = marker.filter(|marker| line.get(marker.len()).is_none_or(is_blank));
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        let first = line.iter().position(|byte| !is_blank(byte));
        match self.open {
            Open::Nothing => {}
            Open::Quoted(quote) => {
                let Some(end) = end_of_quote(line, 0, quote) else { return Ok(()) };
                self.open = Open::Nothing;
                return self.tokens(line, end);
            }
            Open::Block(column) | Open::Plain(column) => {
                let Some(first) = first else { return Ok(()) };
                if column.map_or(marker.is_none(), |column| indent > column) {
                    let plain = matches!(self.open, Open::Plain(_));
                    return if plain { no_comment(line, first) } else { Ok(()) };
                }
            }
            Open::Flow if marker.is_some() => {}
            Open::Flow => {
                let Some(first) = first else { return Ok(()) };
                let end = self.end_of_plain(line, first);
                if end > first && line.get(end) == Some(&b'#') {
                    return Err((end, COMMENT));
                } else if end == line.len() {
                    return Ok(());
                }
                self.open = Open::Nothing;
                return self.tokens(line, end);
            }
        }
        self.open = Open::Nothing;
        if let Some(marker) = marker {
            self.document = match (marker, self.document) {
                ("---", Document::Before) => Document::Begun,
                ("---", _) => return Err((0, DOCUMENTS)),
                _ => Document::Ended,
            };
            self.levels.clear();
            return self.tokens(line, marker.len());
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

    /// Goes through a line from a place where a value or a key may begin.
    fn tokens(&mut self, line: &[u8], mut at: usize) -> Checked {
        while let Some(byte) = line.get(at).copied() {
            if is_blank(&byte) {
                at += 1;
                continue;
            } else if byte == b'#' {
                return Ok(());
            } else if self.document == Document::Ended {
                return Err((at, DOCUMENTS));
            }
            self.document = Document::Begun;
            let in_flow = self.flow > 0;
            let spaced = line.get(at + 1).is_none_or(is_blank);
            match byte {
                b'&' => return Err((at, ANCHOR)),
                b'*' => return Err((at, ALIAS)),
                b'!' => return Err((at, TAG)),
                b'%' if at == 0 => return Err((at, DIRECTIVE)),
                b'?' if spaced || in_flow => return Err((at, EXPLICIT_KEY)),
                b':' if spaced && !in_flow => return Err((at, NO_KEY)),
                b':' | b',' if in_flow => at += 1,
                b'-' if spaced => {
                    self.count_step(at)?;
                    if !in_flow {
                        self.level(at)?;
                    }
                    at += 1;
                }
                b'[' | b'{' => {
                    if byte == b'{' {
                        self.count_step(at)?;
                    }
                    self.flow += 1;
                    if self.flow + self.levels.len() > self.bounds.nesting {
                        return Err((at, NESTING));
                    }
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
                    at = self.key(line, at, end)?;
                }
                // The library skips one at the beginning of a line.
                _ if line.get(at..).is_some_and(|rest| rest.starts_with("\u{feff}".as_bytes())) => {
                    return Err((at, MARK));
                }
                _ => {
                    let end = self.end_of_plain(line, at + 1);
                    let goes_on = end == line.len();
                    if line.get(end) == Some(&b'#') {
                        return Err((end, COMMENT));
                    } else if in_flow && goes_on {
                        self.open = Open::Flow;
                    } else if goes_on {
                        self.open = Open::Plain(self.levels.last().copied());
                        return Ok(());
                    }
                    at = self.key(line, at, end)?;
                }
            }
        }
        Ok(())
    }

    /// Where to go on behind a scalar; behind its colon if it is a key of block style.
    fn key(&mut self, line: &[u8], from: usize, end: usize) -> Result<usize, (usize, &'static str)> {
        let blanks = line.iter().skip(end).take_while(|byte| is_blank(byte)).count();
        let colon = end + blanks;
        if self.flow > 0 || line.get(colon) != Some(&b':') || !line.get(colon + 1).is_none_or(is_blank) {
            return Ok(end);
        }
        self.level(from)?;
        Ok(colon + 1)
    }

    fn count_step(&mut self, at: usize) -> Checked {
        self.steps += 1;
        if self.steps > self.bounds.steps { Err((at, STEPS)) } else { Ok(()) }
    }

    /// A key or a dash at this column: inside the collections to its left.
    fn level(&mut self, column: usize) -> Checked {
        if self.levels.last().is_none_or(|last| *last < column) {
            self.levels.push(column);
        }
        if self.levels.len() > self.bounds.nesting { Err((column, NESTING)) } else { Ok(()) }
    }

    /// Where a plain scalar ends: at `: `, at a comment, in a flow collection also at its signs.
    fn end_of_plain(&self, line: &[u8], from: usize) -> usize {
        let ends = |at: &usize| match line.get(*at) {
            Some(b':') => line.get(at + 1).is_none_or(is_blank),
            Some(b'#') => at.checked_sub(1).and_then(|before| line.get(before)).is_none_or(is_blank),
            Some(b',' | b'[' | b']' | b'{' | b'}') => self.flow > 0,
            _ => false,
        };
        (from..line.len()).find(ends).unwrap_or(line.len())
    }
}

/// A further line of a plain scalar. A comment that has the line for itself is no part of it.
fn no_comment(line: &[u8], first: usize) -> Checked {
    let mut pairs = line.windows(2).skip(first);
    let comment = pairs.position(|pair| matches!(pair, [b' ' | b'\t', b'#']));
    match comment {
        Some(at) if line.get(first) != Some(&b'#') => Err((first + at + 1, COMMENT)),
        _ => Ok(()),
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
