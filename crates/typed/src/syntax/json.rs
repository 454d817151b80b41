//! Reads JSON as models write it, and the lists and objects in brackets inside of YAML.

use cogwork_text::Name;

use crate::ask::RepairKind;

use super::quoted::{end_of_quote, ends_text, unescaped};
use super::{MAX_LEVELS, Notes, Parsed};
use crate::tree::{Node, Tree};

/// Reads the value at the start of a text. `line` is the line of the text in the reply, from 1.
pub(crate) fn read(text: &str, line: usize) -> Parsed {
    let mut reader = Reader {
        text,
        at: 0,
        line,
        levels: 0,
        is_too_deep: false,
        notes: Notes::default(),
    };

    let tree = reader.value();
    Parsed::new(tree, reader.notes, reader.at)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    levels: usize,
    /// Whether the rest isn't read, because of its depth.
    is_too_deep: bool,
    notes: Notes,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn advance(&mut self, bytes: usize) -> &'t str {
        let passed = self.rest().get(..bytes).unwrap_or_default();
        self.line += passed.matches('\n').count();
        self.at += passed.len();
        passed
    }

    /// Passes a character if it is next.
    fn pass(&mut self, character: char) -> bool {
        let is_next = self.rest().starts_with(character);
        if is_next {
            self.advance(character.len_utf8());
        }
        is_next
    }

    fn is_quote(&self, character: char) -> bool {
        matches!(character, '"' | '\'' | '“' | '‘')
    }

    fn repair(&mut self, kind: RepairKind, what: &str) {
        self.notes.repair(kind, self.line, what);
    }

    fn doubt(&mut self, what: &str) {
        self.notes.doubt(self.line, what);
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            self.advance(rest.len() - rest.trim_start().len());

            let Some(length) = self.comment_length() else {
                return;
            };
            self.repair(RepairKind::Json, "left out a comment");
            self.advance(length);
        }
    }

    fn comment_length(&self) -> Option<usize> {
        let rest = self.rest();
        let is_line = rest.starts_with("//") || rest.starts_with("# ");
        is_line.then(|| rest.find('\n').unwrap_or(rest.len()))
    }

    /// Reads a value. Nothing is one that is missing.
    fn value(&mut self) -> Tree {
        self.skip_blanks();
        let line = self.line;
        let node = match self.peek() {
            Some('{') => self.nested(Self::object),
            Some('[') => self.nested(Self::list),
            Some(quote) if self.is_quote(quote) => Node::Text(self.quoted(quote)),
            _ => self.bare(),
        };
        Tree { line, node }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Node) -> Node {
        if self.levels >= MAX_LEVELS {
            self.doubt("the value is nested too deeply");
            self.is_too_deep = true;
            // What follows is part of the value, and reading it as another one would invent
            // something.
            self.at = self.text.len();
            return Node::Null;
        }

        self.levels += 1;
        self.advance(1);
        let node = read(self);
        self.levels -= 1;
        node
    }

    fn object(&mut self) -> Node {
        let mut entries = Vec::new();
        let mut has_comma = true;

        while self.begins_item('}', &mut has_comma, entries.is_empty()) {
            let Some(key) = self.key() else {
                break;
            };

            let line = self.line;
            self.skip_blanks();
            let has_colon = self.pass(':');
            self.skip_blanks();
            let Some(next) = self.peek() else {
                self.cut();
                break;
            };

            // In YAML, such a key has the value null.
            let is_missing = matches!(next, ',' | '}' | ']');
            if is_missing || !has_colon {
                // The key shows where a comma, or a quote inside of a text, is meant otherwise.
                self.doubt(&format!("the key `{}` has no value", Name(&key)));
            }
            let value = match is_missing {
                true => Tree::new(line, Node::Plain(String::new())),
                false => self.value(),
            };
            if !self.is_lost(&value) {
                entries.push((key, value));
            }
            has_comma = self.ends_item();
        }

        Node::Object(entries)
    }

    fn list(&mut self) -> Node {
        let mut items = Vec::new();
        let mut has_comma = true;

        while self.begins_item(']', &mut has_comma, items.is_empty()) {
            let item = self.value();
            if !self.is_lost(&item) {
                items.push(item);
            }
            has_comma = self.ends_item();
        }

        Node::List(items)
    }

    /// Returns whether a value was cut off that isn't a text, and may be incomplete.
    fn is_lost(&self, value: &Tree) -> bool {
        self.notes.is_cut && value.node == Node::Null
    }

    /// Passes what is before the next item. Returns whether there is one.
    fn begins_item(&mut self, close: char, has_comma: &mut bool, is_first: bool) -> bool {
        loop {
            self.skip_blanks();
            match self.peek() {
                None => {
                    self.cut();
                    return false;
                }
                Some(bracket) if bracket == close => {
                    if *has_comma && !is_first {
                        self.repair(RepairKind::Json, "left out a comma");
                    }
                    self.advance(1);
                    return false;
                }
                Some('}' | ']') => {
                    self.doubt("a bracket of another kind is open");
                    self.advance(1);
                }
                Some(',') => {
                    self.repair(RepairKind::Json, "left out a comma");
                    self.advance(1);
                }
                Some(_) => {
                    if !*has_comma {
                        self.add_comma(close == ']');
                    }
                    return true;
                }
            }
        }
    }

    /// Passes the comma after an item. Returns whether there is one.
    fn ends_item(&mut self) -> bool {
        self.skip_blanks();
        self.pass(',')
    }

    /// Adds the comma that is missing before an item.
    fn add_comma(&mut self, is_list: bool) {
        let before = self.text.get(..self.at).unwrap_or_default();
        let trimmed = before.trim_end();
        let is_on_new_line = before
            .get(trimmed.len()..)
            .is_some_and(|blanks| blanks.contains('\n'));

        // It may be one text with quotes inside, as in `["He said "yes" twice"]`.
        let follows_value = trimmed.ends_with(['}', ']']) || self.rest().starts_with(['{', '[']);
        if is_list && !is_on_new_line && !follows_value {
            self.doubt("there is no comma between two items");
        }
        self.repair(RepairKind::Json, "added a comma");
    }

    fn key(&mut self) -> Option<String> {
        if let Some(quote) = self.peek().filter(|next| self.is_quote(*next)) {
            let key = self.quoted(quote);
            return (!self.notes.is_cut).then_some(key);
        }

        let end = self.rest().find([':', ',', '{', '}', '[', ']', '"', '\n']);
        let Some(end) = end else {
            self.cut();
            return None;
        };
        self.repair(RepairKind::Quotes, "put a text in quotes");
        // It may be one value, as in `{"time": 12:30}`.
        if self.rest().starts_with(':') {
            self.doubt("a key is missing");
        }
        // A character that begins no key would never be passed.
        let length = self.peek().map_or(0, char::len_utf8);
        let is_empty = end == 0 && !self.rest().starts_with(':');
        let key = self.advance(if is_empty { length } else { end });
        Some(key.trim().to_owned())
    }

    /// Notes that the text ends inside the value. What is written of a text is kept.
    fn cut(&mut self) {
        self.notes.is_cut |= !self.is_too_deep;
    }

    fn quoted(&mut self, quote: char) -> String {
        let line = self.line;
        self.advance(quote.len_utf8());
        let inner = self.rest();
        let end = match quote {
            '"' => end_of_quote(inner, quote),
            _ => self.end_of_other_quote(inner, quote),
        };

        let Some(end) = end else {
            self.advance(inner.len());
            self.cut();
            return unescaped(inner).text;
        };

        let body = self.advance(end);
        let close = self.peek().map_or(0, char::len_utf8);
        self.advance(close);

        if quote != '"' {
            let what = "took other quotes for double quotes";
            self.notes.repair(RepairKind::Quotes, line, what);
        }
        let unescaped = unescaped(body);
        if unescaped.is_changed {
            let what = "escaped characters in a text";
            self.notes.repair(RepairKind::Quotes, line, what);
        }
        unescaped.text
    }

    /// Returns where a text ends whose quotes aren't double quotes.
    fn end_of_other_quote(&mut self, inner: &str, quote: char) -> Option<usize> {
        let close = match quote {
            '“' => '”',
            '‘' => '’',
            other => other,
        };
        let mut before = ' ';
        let mut is_escaped = false;
        for (at, character) in inner.char_indices() {
            let after = inner.get(at + character.len_utf8()..).unwrap_or_default();
            if character == close && !is_escaped {
                if ends_text(after) {
                    return Some(at);
                }
                // An apostrophe is between letters, as in `it's`.
                let is_inside = after.starts_with(char::is_alphanumeric);
                if !(is_inside && before.is_alphanumeric()) {
                    self.doubt("there are quotes inside a text");
                }
            }
            is_escaped = character == '\\' && !is_escaped;
            before = character;
        }

        None
    }

    /// Reads a number, a literal, or a text without quotes.
    fn bare(&mut self) -> Node {
        let rest = self.rest();
        // A number at the end may be incomplete, while these words can't go on.
        let is_literal = matches!(rest.trim_end(), "true" | "false" | "null");
        let end = self.end_of_bare().or(is_literal.then_some(rest.len()));
        let Some(end) = end else {
            self.advance(rest.len());
            self.cut();
            return Node::Null;
        };

        let word = rest.get(..end).unwrap_or_default();
        // A character that begins no value would never be passed.
        let passed = word.len().max(1);
        let word = word.trim();
        if is_elision(word) {
            self.doubt("something is left out");
        }

        let node = self.literal(word);

        self.advance(passed);
        node
    }

    fn end_of_bare(&self) -> Option<usize> {
        let rest = self.rest();
        let sign = rest.find([',', ':', '{', '}', '[', ']', '"', '\n'])?;
        // Without a blank before it, it is part of a text such as `http://`.
        let comments = [" //", " # "];
        let word = rest.get(..sign).unwrap_or_default();
        let comment = comments.iter().filter_map(|start| word.find(start)).min();
        comment.or(Some(sign))
    }

    fn literal(&mut self, word: &str) -> Node {
        match word {
            "null" => return Node::Null,
            "true" => return Node::Bool(true),
            "false" => return Node::Bool(false),
            _ if serde_json::from_str::<serde::de::IgnoredAny>(word).is_ok() => {
                return Node::Number(word.to_owned());
            }
            _ => {}
        }

        let node = match word {
            "None" => Node::Null,
            "True" => Node::Bool(true),
            "False" => Node::Bool(false),
            _ => {
                self.repair(RepairKind::Quotes, "put a text in quotes");
                return Node::Text(word.to_owned());
            }
        };
        self.repair(RepairKind::Json, "wrote a literal as JSON does");
        node
    }
}

pub(super) fn is_elision(text: &str) -> bool {
    matches!(text.trim(), "..." | "…" | "…." | "....")
}
