//! The value of the key, from its colon on.

use super::block::Block;
use super::lines::Lines;
use super::plain::Plain;
use super::quoted::Quoted;
use super::step::Step;
use super::text::Text;

#[derive(Debug, Clone)]
pub(super) struct Scalar {
    /// The column of the key.
    parent: usize,
    in_flow: bool,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// Before the value, in the line of the key.
    Before,
    /// Before the value, in a later line, after some blanks.
    BeforeInLaterLine(usize),
    /// A comment after the key.
    Comment,
    /// The first line of a block scalar.
    Header(String),
    Block(Block),
    Quoted(Quoted),
    Plain(Plain),
    Lines(Lines),
}

impl Scalar {
    pub(super) fn new(parent: usize, in_flow: bool) -> Self {
        Self {
            parent,
            in_flow,
            kind: Kind::Before,
        }
    }

    /// Creates a text that goes on until a line begins with one of `keys`.
    pub(super) fn lines(keys: Vec<String>) -> Self {
        Self {
            parent: 0,
            in_flow: false,
            kind: Kind::Lines(Lines::after_key(keys)),
        }
    }

    pub(super) fn take(&mut self, character: char, text: &mut Text) -> Step {
        match &mut self.kind {
            Kind::Before => self.begin(character, text),
            Kind::BeforeInLaterLine(column) => match character {
                ' ' | '\t' => {
                    *column += 1;
                    Step::More
                }
                '\n' => {
                    *column = 0;
                    Step::More
                }
                _ if !self.in_flow && *column <= self.parent => {
                    let column = *column;
                    Step::EndedBefore { column }
                }
                _ => self.begin(character, text),
            },
            Kind::Comment => {
                if character == '\n' {
                    self.kind = Kind::BeforeInLaterLine(0);
                }
                Step::More
            }
            Kind::Header(_) => self.take_header(character, text),
            Kind::Block(block) => block.take(character, text),
            Kind::Quoted(quoted) => quoted.take(character, text),
            Kind::Plain(plain) => plain.take(character, text),
            Kind::Lines(lines) => lines.take(character, text),
        }
    }

    /// Takes a character before the value, or the first one of the value.
    fn begin(&mut self, character: char, text: &mut Text) -> Step {
        self.kind = match character {
            // Asterisks close a bold key.
            ' ' | '\t' | '*' => return Step::More,
            '\n' => Kind::BeforeInLaterLine(0),
            '#' => Kind::Comment,
            '[' | '{' => return Step::EndedInLine,
            '|' | '>' => Kind::Header(character.to_string()),
            '"' | '\'' => Kind::Quoted(Quoted::new(character)),
            _ => return self.begin_plain(character, text),
        };

        Step::More
    }

    fn begin_plain(&mut self, character: char, text: &mut Text) -> Step {
        let mut plain = Plain::new(self.parent, self.in_flow);
        let step = plain.take(character, text);

        self.kind = Kind::Plain(plain);
        step
    }

    /// Takes a character of the line `|`, `>-` or `|2`. Any other text after the sign is a plain
    /// scalar, which isn't valid YAML.
    fn take_header(&mut self, character: char, text: &mut Text) -> Step {
        let Kind::Header(header) = &mut self.kind else {
            return Step::More;
        };

        let is_comment = header.contains('#');
        let is_header = is_comment || matches!(character, ' ' | '\t' | '+' | '-' | '#' | '1'..='9');

        if character == '\n' {
            self.kind = Kind::Block(Block::new(header, self.parent));
            return Step::More;
        }

        if is_header {
            if header.len() < MAX_HEADER {
                header.push(character);
            }
            return Step::More;
        }

        let header = std::mem::take(header);
        header.chars().for_each(|before| {
            self.begin_plain_or_go_on(before, text);
        });
        self.begin_plain_or_go_on(character, text)
    }

    fn begin_plain_or_go_on(&mut self, character: char, text: &mut Text) -> Step {
        match &mut self.kind {
            Kind::Plain(plain) => plain.take(character, text),
            _ => self.begin_plain(character, text),
        }
    }
}

/// The number of characters that are kept of the first line of a block scalar.
const MAX_HEADER: usize = 16;
