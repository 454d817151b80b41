//! Reads JSON as models write it. Every correction is reported.
//!
//! The text is rewritten as strict JSON in one pass, and then parsed. A text that is cut off ends
//! before the last value that may be incomplete, and its brackets are closed.

use cogwork_ask::{Repair, RepairKind};
use cogwork_read::charge;
use serde_json::{Map, Value};

/// The maximum nesting of objects and lists.
const MAX_DEPTH: usize = 64;

/// The maximum number of repairs that are reported.
const MAX_REPAIRS: usize = 100;

/// An object that was read from the start of a text.
pub(super) struct Mended {
    pub(super) object: Map<String, Value>,
    pub(super) repairs: Vec<Repair>,
    /// The number of bytes that were read.
    pub(super) length: usize,
    /// Whether the text ended inside the object.
    pub(super) is_cut: bool,
}

/// Reads the object at the start of `text`, which begins with a brace. Returns `None` if there is
/// none, or if it is nested too deeply. `line` is the line of the text in the reply, from 1.
pub(super) fn mend(text: &str, line: usize) -> Option<Mended> {
    let mut mender = Mender {
        text,
        at: 0,
        line,
        json: String::new(),
        open: Vec::new(),
        before: Before::Value,
        repairs: Vec::new(),
    };

    let is_whole = mender.run();
    charge(mender.at);

    if !is_whole? {
        mender.close();
    }

    let Value::Object(object) = serde_json::from_str(&mender.json).ok()? else {
        return None;
    };

    Some(Mended {
        object,
        repairs: mender.repairs,
        length: mender.at,
        is_cut: is_whole == Some(false),
    })
}

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

struct Mender<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    json: String,
    open: Vec<Open>,
    before: Before,
    repairs: Vec<Repair>,
}

impl<'t> Mender<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Rewrites the object. Returns whether it ends before the text does, or `None` if it is nested
    /// too deeply.
    fn run(&mut self) -> Option<bool> {
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

    fn report(&mut self, kind: RepairKind, what: &str) {
        if self.repairs.len() < MAX_REPAIRS {
            self.repairs.push(Repair::new(kind, self.line, what));
        }
    }

    fn advance(&mut self, bytes: usize) {
        let passed = self.rest().get(..bytes).unwrap_or_default();
        self.line += passed.matches('\n').count();
        self.at += bytes;
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            self.advance(blanks);

            if !self.rest().starts_with("//") {
                return;
            }

            self.report(RepairKind::Json, "left out a comment");
            let rest = self.rest();
            let end = rest.find('\n').unwrap_or(rest.len());
            self.advance(end);
        }
    }

    fn open_bracket(&mut self, bracket: char) -> Option<bool> {
        if self.open.len() >= MAX_DEPTH {
            return None;
        }

        self.begin_item();
        self.json.push(bracket);
        self.open.push(Open {
            is_list: bracket == '[',
            item: self.json.len(),
            has_colon: false,
        });

        self.before = Before::Bracket;
        self.advance(1);
        Some(true)
    }

    /// Closes a bracket, and those inside it that the model left open.
    fn close_bracket(&mut self, bracket: char) {
        self.advance(1);
        let is_list = bracket == ']';
        let Some(place) = self.open.iter().rposition(|open| open.is_list == is_list) else {
            self.report(RepairKind::Json, "left out a bracket that closes nothing");
            return;
        };

        if place + 1 < self.open.len() {
            self.report(RepairKind::Json, "closed a bracket");
        }

        while self.open.len() > place {
            self.end_container();
        }
    }

    /// Closes the innermost object or list.
    fn end_container(&mut self) {
        let Some(open) = self.open.last() else {
            return;
        };

        let is_list = open.is_list;
        let item = open.item;
        let has_value = is_list || open.has_colon;

        match self.before {
            Before::Comma => {
                self.report(RepairKind::Json, "left out a comma");
                self.json.truncate(item);
            }
            Before::Colon => {
                self.report(RepairKind::Json, "added a value that was missing");
                self.json.push_str("null");
            }
            Before::Value if !has_value => {
                self.report(RepairKind::Json, "left out a key without a value");
                self.json.truncate(item);
            }
            Before::Value | Before::Bracket => {}
        }

        self.json.push(if is_list { ']' } else { '}' });
        self.open.pop();
        self.before = Before::Value;
    }

    fn comma(&mut self) -> bool {
        self.advance(1);

        let is_extra = matches!(self.before, Before::Bracket | Before::Comma);
        if is_extra {
            self.report(RepairKind::Json, "left out a comma");
            return true;
        }

        if self.before == Before::Colon {
            self.report(RepairKind::Json, "added a value that was missing");
            self.json.push_str("null");
        }

        self.push_comma();
        true
    }

    /// Ends the current item, and begins the next one.
    fn push_comma(&mut self) {
        let Some(open) = self.open.last_mut() else {
            return;
        };

        if !open.is_list && !open.has_colon {
            self.json.push_str(":null");
        }

        open.item = self.json.len();
        open.has_colon = false;
        self.json.push(',');
        self.before = Before::Comma;
    }

    fn colon(&mut self) -> bool {
        self.advance(1);

        let is_after_key = self.before == Before::Value
            && self
                .open
                .last()
                .is_some_and(|open| !open.is_list && !open.has_colon);
        if !is_after_key {
            self.report(RepairKind::Json, "left out a colon");
            return true;
        }

        if let Some(open) = self.open.last_mut() {
            open.has_colon = true;
        }
        self.json.push(':');
        self.before = Before::Colon;
        true
    }

    /// Adds the comma that is missing before an item.
    fn begin_item(&mut self) {
        if self.before == Before::Value && !self.open.is_empty() {
            self.report(RepairKind::Json, "added a comma");
            self.push_comma();
        }
    }

    /// Rewrites a text in quotes. Returns `false` if the text ends inside it.
    fn quoted(&mut self, quote: char) -> bool {
        let inner = self.rest().get(quote.len_utf8()..).unwrap_or_default();
        let Some(end) = end_of_quote(inner, quote) else {
            self.at = self.text.len();
            return false;
        };

        self.begin_item();
        let body = inner.get(..end).unwrap_or_default();
        if quote != '"' {
            self.report(RepairKind::Quotes, "took other quotes for double quotes");
        }

        let unescaped = unescaped(body);
        if unescaped.is_changed {
            self.report(RepairKind::Quotes, "escaped characters in a text");
        }

        self.push_text(&unescaped.text);
        let close = inner
            .get(end..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8);
        self.advance(quote.len_utf8() + end + close);
        true
    }

    /// Writes a text as JSON.
    fn push_text(&mut self, text: &str) {
        self.json.push_str(&Value::from(text).to_string());
        self.before = Before::Value;
    }

    /// Rewrites a number, a literal, or a text without quotes. Returns `false` if it may be
    /// incomplete.
    fn bare(&mut self) -> bool {
        let rest = self.rest();
        let Some(end) = rest.find([',', ':', '{', '}', '[', ']', '"', '\n']) else {
            self.at = self.text.len();
            return false;
        };

        let word = rest.get(..end).unwrap_or_default();
        self.begin_item();
        let word = word.trim();

        // A key is always a text.
        let is_key = self
            .open
            .last()
            .is_some_and(|open| !open.is_list && !open.has_colon);
        match literal(word).filter(|_| !is_key) {
            Some(literal) => {
                if literal != word {
                    self.report(RepairKind::Json, "wrote a literal as JSON does");
                }
                self.json.push_str(literal);
                self.before = Before::Value;
            }
            None => {
                // A number that JSON would write differently stays a text.
                let is_number = word.parse::<f64>().is_ok();
                if !is_number || is_key {
                    self.report(RepairKind::Quotes, "put a text in quotes");
                }
                self.push_text(word);
            }
        }

        // Otherwise, a character that begins no token would never be passed.
        self.advance(end.max(1));
        true
    }

    /// Ends the JSON of a text that was cut off before the last incomplete item.
    fn close(&mut self) {
        let is_complete = self.before == Before::Value
            && self
                .open
                .last()
                .is_some_and(|open| open.is_list || open.has_colon)
            && self.text.trim_end().ends_with(['"', '}', ']']);

        if is_complete {
            self.report(RepairKind::Json, "closed the brackets");
        } else {
            self.report(
                RepairKind::CutOff,
                "left out what was not written to its end",
            );
            self.drop_item();
        }

        while !self.open.is_empty() {
            self.end_container();
        }
    }

    /// Removes the incomplete item. An object in a list is removed as a whole.
    fn drop_item(&mut self) {
        let innermost_list = self.open.iter().rposition(|open| open.is_list);
        let keep = match innermost_list {
            Some(list) => list + 1,
            None => 1,
        };

        self.open.truncate(keep);
        if let Some(open) = self.open.last_mut() {
            self.json.truncate(open.item);
            open.has_colon = true;
        }
        self.before = Before::Bracket;
    }
}

/// Returns where a quoted text ends.
fn end_of_quote(inner: &str, quote: char) -> Option<usize> {
    let close = if quote == '“' { '”' } else { quote };
    let mut characters = inner.char_indices();

    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
            continue;
        }

        // An apostrophe isn't a closing quote.
        let is_end = character == close
            && (close != '\'' || ends_text(inner.get(at + 1..).unwrap_or_default()));
        if is_end {
            return Some(at);
        }
    }

    None
}

/// Returns whether what follows a quote can follow a text.
fn ends_text(rest: &str) -> bool {
    let next = rest.trim_start().chars().next();
    next.is_none_or(|next| matches!(next, ',' | ':' | '}' | ']'))
}

struct Unescaped {
    text: String,
    /// Whether the text isn't as JSON requires.
    is_changed: bool,
}

/// Returns a quoted text without its escapes. Characters that JSON requires to be escaped, and
/// backslashes that escape nothing, are kept.
fn unescaped(body: &str) -> Unescaped {
    if let Ok(text) = serde_json::from_str::<String>(&format!("\"{body}\"")) {
        return Unescaped {
            text,
            is_changed: false,
        };
    }

    let mut escaped = String::with_capacity(body.len());
    let mut characters = body.chars().peekable();

    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => {
                escaped.push(character);
                escaped.extend(characters.next());
            }
            ('\\', Some('\'')) => {}
            ('\\', _) => escaped.push_str("\\\\"),
            ('"', _) => escaped.push_str("\\\""),
            (control, _) if control.is_control() => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(control).min(0xffff)));
            }
            _ => escaped.push(character),
        }
    }

    let text = serde_json::from_str(&format!("\"{escaped}\"")).unwrap_or_else(|_| body.to_owned());
    Unescaped {
        text,
        is_changed: true,
    }
}

/// Returns a word as a literal of JSON, unless it is a number that JSON would write differently,
/// such as a price of `1.10`.
fn literal(word: &str) -> Option<&str> {
    match word {
        "true" | "false" | "null" => Some(word),
        "True" => Some("true"),
        "False" => Some("false"),
        "None" => Some("null"),
        number => {
            let value: Value = serde_json::from_str(number).ok()?;
            let written = value.to_string();
            (value.is_number() && written == number).then_some(number)
        }
    }
}
