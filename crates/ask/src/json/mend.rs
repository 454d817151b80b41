//! Reads JSON as models write it. Every correction is reported.
//!
//! The text is rewritten as strict JSON in one pass, and then parsed. A text that is cut off ends
//! before the last value that may be incomplete, and its brackets are closed.

use std::ops::Range;

use cogwork_read::charge;
use serde_json::Value;

use crate::{Repair, RepairKind};

/// The maximum nesting of objects and lists.
const MAX_DEPTH: usize = 64;

/// The maximum number of repairs that are reported.
const MAX_REPAIRS: usize = 100;

/// An object or list in a text of a model, rewritten as strict JSON.
///
/// Missing and extra commas, other quotes, missing quotes around keys and texts, comments, literals
/// of Python, unescaped characters, and brackets that aren't closed are corrected. Each correction
/// is reported.
///
/// ```
/// use cogwork_ask::MendedJson;
///
/// let mended = MendedJson::read("{name: 'Ann', tall: True,} Done.", 1).unwrap();
/// assert_eq!(mended.json(), r#"{"name":"Ann","tall":true}"#);
/// assert_eq!(mended.length(), 26);
/// assert_eq!(mended.repairs()[0].to_string(), "line 1: put a text in quotes");
/// ```
#[derive(Debug, Clone)]
pub struct MendedJson {
    json: String,
    lines: Lines,
    repairs: Vec<Repair>,
    length: usize,
    doubt: Option<&'static str>,
    cut: Option<Cut>,
}

/// How a text ends inside an object or list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cut {
    /// Every value is complete, only the brackets of objects are missing.
    BetweenKeys,
    /// A list may lack items, or a value was incomplete and is left out.
    InsideValue,
}

impl MendedJson {
    /// Reads the object or list at the start of `text`, which begins with a brace or a bracket.
    /// Returns `None` if there is none, or if it is nested too deeply. `line` is the line of the
    /// text in the reply, from 1.
    pub fn read(text: &str, line: usize) -> Option<Self> {
        Self::read_at(text, line, 0)
    }

    /// Does the same as [`read`](Self::read) for a text that begins within its line, after this number
    /// of bytes. The [columns](Repair::columns) of corrections count from the start of the line.
    pub fn read_at(text: &str, line: usize, column: usize) -> Option<Self> {
        let mut mender = Mender::new(text, line, column);
        let is_whole = mender.run();
        charge(mender.at);

        let is_followed = !mender.rest().trim().is_empty();
        if mender.closed_other && is_followed {
            mender.doubt.get_or_insert("closed a bracket");
        }

        let cut = if is_whole? {
            None
        } else {
            Some(mender.close())
        };

        Some(Self {
            json: mender.json,
            lines: mender.lines,
            repairs: mender.repairs,
            length: mender.at,
            doubt: mender.doubt,
            cut,
        })
    }

    /// Returns the JSON.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Returns the line of the original text, from 1, for an offset in the JSON.
    pub fn line_at(&self, offset: usize) -> usize {
        self.lines.at(offset)
    }

    /// Returns the corrections, in order. At most 100 are listed.
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// Returns the number of bytes of the text that were read.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the first correction whose result may not be what the model meant, for example a
    /// missing value that was read as null.
    pub fn doubt(&self) -> Option<&str> {
        self.doubt
    }

    /// Returns how the text ends inside the object or list, or `None` if it doesn't.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }
}

/// The lines of the original text by the offsets in the JSON at which they begin.
#[derive(Debug, Clone, Default)]
struct Lines(Vec<(usize, usize)>);

impl Lines {
    fn begin(&mut self, offset: usize, line: usize) {
        if self.0.last().is_none_or(|(_, last)| *last != line) {
            self.0.push((offset, line));
        }
    }

    /// Forgets what begins at this offset or after it.
    fn truncate(&mut self, offset: usize) {
        let kept = self.0.partition_point(|(begin, _)| *begin < offset);
        self.0.truncate(kept);
    }

    fn at(&self, offset: usize) -> usize {
        let after = self.0.partition_point(|(begin, _)| *begin <= offset);
        let place = after.checked_sub(1).and_then(|place| self.0.get(place));
        place.map_or(1, |(_, line)| *line)
    }
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
    /// Where the current line begins in the text.
    line_start: usize,
    /// How many bytes of the current line precede the text.
    column: usize,
    /// The last token that was passed.
    last: Range<usize>,
    json: String,
    open: Vec<Open>,
    before: Before,
    repairs: Vec<Repair>,
    lines: Lines,
    doubt: Option<&'static str>,
    /// Whether a bracket closed one of the other kind.
    closed_other: bool,
    /// Whether the text ends inside quotes.
    ends_in_quotes: bool,
}

impl<'t> Mender<'t> {
    fn new(text: &'t str, line: usize, column: usize) -> Self {
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

    fn open_bracket(&mut self, bracket: char) -> Option<bool> {
        if self.open.len() >= MAX_DEPTH {
            return None;
        }

        self.begin_item();
        self.begin_token();
        self.json.push(bracket);
        self.open.push(Open {
            is_list: bracket == '[',
            item: self.json.len(),
            has_colon: false,
        });

        self.before = Before::Bracket;
        self.pass(1);
        Some(true)
    }

    /// Closes a bracket, and those inside it that the model left open.
    fn close_bracket(&mut self, bracket: char) {
        let before = self.last.clone();
        let at = self.at;
        self.pass(1);

        let is_list = bracket == ']';
        let Some(place) = self.open.iter().rposition(|open| open.is_list == is_list) else {
            self.report_doubt(at..at + 1, "left out a bracket that closes nothing");
            return;
        };

        if place + 1 < self.open.len() {
            self.report(RepairKind::Json, at..at, "closed a bracket");
            self.closed_other = true;
        }

        while self.open.len() > place {
            self.end_container(&before, at);
        }
    }

    /// Closes the innermost object or list. `last` is the token before its end.
    fn end_container(&mut self, last: &Range<usize>, end: usize) {
        let Some(open) = self.open.last() else {
            return;
        };

        let is_list = open.is_list;
        let item = open.item;
        let has_value = is_list || open.has_colon;

        match self.before {
            Before::Comma => {
                self.report(RepairKind::Json, last.clone(), "left out a comma");
                self.truncate(item);
            }
            Before::Colon => {
                self.report_doubt(end..end, "added a value that was missing");
                self.json.push_str("null");
            }
            Before::Value if !has_value => {
                self.report_doubt(last.clone(), "left out a key without a value");
                self.truncate(item);
            }
            Before::Value | Before::Bracket => {}
        }

        self.json.push(if is_list { ']' } else { '}' });
        self.open.pop();
        self.before = Before::Value;
    }

    fn comma(&mut self) -> bool {
        let at = self.at;
        self.pass(1);

        let is_extra = matches!(self.before, Before::Bracket | Before::Comma);
        if is_extra {
            self.report(RepairKind::Json, at..at + 1, "left out a comma");
            return true;
        }

        if self.before == Before::Colon {
            self.report_doubt(at..at, "added a value that was missing");
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
            self.doubt.get_or_insert("added a value that was missing");
        }

        open.item = self.json.len();
        open.has_colon = false;
        self.json.push(',');
        self.before = Before::Comma;
    }

    fn colon(&mut self) -> bool {
        let at = self.at;
        self.pass(1);

        let is_after_key = self.before == Before::Value
            && self
                .open
                .last()
                .is_some_and(|open| !open.is_list && !open.has_colon);
        if !is_after_key {
            self.report_doubt(at..at + 1, "left out a colon");
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
            if self.may_be_in_text() {
                self.doubt.get_or_insert("added a comma between texts");
            }

            self.report(RepairKind::Json, self.at..self.at, "added a comma");
            self.push_comma();
        }
    }

    /// Returns whether the last text and what follows it may be one text with quotes inside, as in
    /// `["He said "yes" twice"]`.
    fn may_be_in_text(&self) -> bool {
        let is_in_list = self.open.last().is_some_and(|open| open.is_list);
        let follows_text = self.json.ends_with('"');

        let before = self.text.get(..self.at).unwrap_or_default();
        let blanks = before.len() - before.trim_end().len();
        let blanks = before.get(before.len() - blanks..).unwrap_or_default();
        let is_on_new_line = blanks.contains('\n');

        let is_bracket = self.rest().starts_with(['{', '[']);
        is_in_list && follows_text && !is_on_new_line && !is_bracket
    }

    /// Rewrites a text in quotes. Returns `false` if the text ends inside it.
    fn quoted(&mut self, quote: char) -> bool {
        let inner = self.rest().get(quote.len_utf8()..).unwrap_or_default();
        let Some(end) = end_of_quote(inner, quote) else {
            self.ends_in_quotes = true;
            self.at = self.text.len();
            return false;
        };

        self.begin_item();
        let body = inner.get(..end).unwrap_or_default();
        let close = inner
            .get(end..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8);
        let length = quote.len_utf8() + end + close;
        let part = self.at..self.at + length;

        if quote != '"' {
            let what = "took other quotes for double quotes";
            self.report(RepairKind::Quotes, part.clone(), what);
        }

        let unescaped = unescaped(body);
        if unescaped.is_changed {
            self.report(RepairKind::Quotes, part, "escaped characters in a text");
        }

        self.begin_token();
        self.push_text(&unescaped.text);
        self.pass(length);
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
        let end = length_before_comment(word);
        let word = rest.get(..end).unwrap_or_default();
        self.begin_item();
        self.begin_token();
        let part = self.at..self.at + word.trim_end().len();
        let word = word.trim();

        // A key is always a text.
        let is_key = self
            .open
            .last()
            .is_some_and(|open| !open.is_list && !open.has_colon);
        match literal(word).filter(|_| !is_key) {
            Some(literal) => {
                if literal != word {
                    self.report(RepairKind::Json, part, "wrote a literal as JSON does");
                }
                self.json.push_str(literal);
                self.before = Before::Value;
            }
            None => {
                // A number that JSON would write differently stays a text.
                let is_number = word.parse::<f64>().is_ok();
                if !is_number || is_key {
                    self.report(RepairKind::Quotes, part, "put a text in quotes");
                }
                self.push_text(word);
            }
        }

        // Otherwise, a character that begins no token would never be passed.
        self.pass(end.max(1));
        true
    }

    /// Ends the JSON of a text that was cut off before the last incomplete item.
    fn close(&mut self) -> Cut {
        let is_in_list = self.open.iter().any(|open| open.is_list);
        let is_complete = !self.ends_in_quotes
            && self.before == Before::Value
            && self
                .open
                .last()
                .is_some_and(|open| open.is_list || open.has_colon)
            && self.text.trim_end().ends_with(['"', '}', ']']);

        let last = self.last.clone();
        let end = self.text.trim_end().len();

        if is_complete {
            self.report(RepairKind::Json, end..end, "closed the brackets");
        } else {
            let what = "left out what was not written to its end";
            self.report(RepairKind::CutOff, last.end..end.max(last.end), what);
            self.drop_item();
        }

        while !self.open.is_empty() {
            self.end_container(&last, end);
        }

        if is_complete && !is_in_list {
            Cut::BetweenKeys
        } else {
            Cut::InsideValue
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
            let item = open.item;
            open.has_colon = true;
            self.truncate(item);
        }
        self.before = Before::Bracket;
    }
}

/// Returns the length of a comment at the start of a text; `None` if there is none.
fn comment_length(text: &str) -> Option<usize> {
    if let Some(inside) = text.strip_prefix("/*") {
        let length = inside.find("*/").map(|end| end + "/**/".len());
        return Some(length.unwrap_or(text.len()));
    }

    let is_line = text.starts_with("//") || text.starts_with("# ");
    is_line.then(|| text.find('\n').unwrap_or(text.len()))
}

/// Returns the length of a number or literal before a comment, and otherwise of the whole word,
/// since a text without quotes may contain such characters.
fn length_before_comment(word: &str) -> usize {
    let comment = ["//", "/*", "# "]
        .iter()
        .filter_map(|start| word.find(start))
        .min();
    let before = comment.and_then(|at| word.get(..at)).unwrap_or(word);
    let is_value = literal(before.trim()).is_some() || before.trim().parse::<f64>().is_ok();

    if is_value { before.len() } else { word.len() }
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
