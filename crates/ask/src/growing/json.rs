//! Builds a JSON value while it arrives.
use serde_json::{Map, Value};

/// Builds the first JSON object or list of a reply while the reply arrives, so that a program can
/// show the values that are already there.
///
/// Texts grow with each piece. A number or literal is added once it is complete. Prose, fences and
/// thinking in tags before the value are skipped. The work is linear in the length of the reply.
///
/// The value is meant for display: it is built from well-formed JSON, and what isn't is ignored.
///
/// ```
/// use cogwork_ask::GrowingJson;
///
/// let mut growing = GrowingJson::default();
/// growing.push("```json\n{\"name\": \"An");
/// assert_eq!(growing.value().to_string(), r#"{"name":"An"}"#);
///
/// growing.push("n\", \"ages\": [3, 1");
/// assert_eq!(growing.value().to_string(), r#"{"ages":[3],"name":"Ann"}"#);
/// assert!(!growing.is_complete());
///
/// growing.push("2]}");
/// assert!(growing.is_complete());
/// ```
#[derive(Debug, Clone, Default)]
pub struct GrowingJson {
    root: Value,
    /// The way to the innermost open object or list.
    open: Vec<Step>,
    state: State,
    word: String,
    tags: super::tags::Tags,
    bytes: usize,
}

/// The maximum nesting, above which the value doesn't grow.
const MAX_DEPTH: usize = 64;

/// The maximum size, above which the value doesn't grow.
const MAX_BYTES: usize = 1 << 20;

#[derive(Debug, Clone)]
enum Step {
    List,
    /// An object, and the key whose value is next.
    Object(Option<String>),
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum State {
    /// Before the value.
    #[default]
    Seeking,
    /// Between tokens.
    Between,
    /// In a key or a text.
    Text {
        is_key: bool,
        is_escaped: bool,
    },
    /// In a number or literal.
    Word,
    Complete,
}

impl GrowingJson {
    /// Adds a piece of the reply. Returns whether the value grew.
    pub fn push(&mut self, piece: &str) -> bool {
        self.bytes += piece.len();
        if self.bytes > MAX_BYTES {
            return false;
        }

        let mut has_grown = false;
        for character in piece.chars() {
            has_grown |= self.take_outside_tags(character);
        }

        // A text is only unescaped as a whole, so that a half of an escape isn't shown.
        has_grown | self.show_text()
    }

    /// Returns what has arrived of the value, or null if it hasn't begun.
    pub fn value(&self) -> &Value {
        &self.root
    }

    /// Returns whether the value has ended.
    pub fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Begins with another reply.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    fn take_outside_tags(&mut self, character: char) -> bool {
        match self.tags.take(character) {
            super::tags::Taken::Skipped => false,
            super::tags::Taken::Outside => self.take(character),
            super::tags::Taken::NoTag(before) => {
                let mut has_grown = false;
                for before in before.chars() {
                    has_grown |= self.take(before);
                }
                has_grown | self.take(character)
            }
        }
    }

    fn take(&mut self, character: char) -> bool {
        match self.state {
            State::Seeking if !matches!(character, '{' | '[') => false,
            State::Complete => false,
            State::Text { is_key, is_escaped } => self.take_in_text(character, is_key, is_escaped),
            State::Word if !matches!(character, ',' | ']' | '}') && !character.is_whitespace() => {
                self.word.push(character);
                false
            }
            State::Word => {
                let has_grown = self.end_word();
                self.take_between(character) | has_grown
            }
            State::Seeking | State::Between => self.take_between(character),
        }
    }

    fn take_between(&mut self, character: char) -> bool {
        match character {
            '{' => self.begin(Value::Object(Map::new()), Step::Object(None)),
            '[' => self.begin(Value::Array(Vec::new()), Step::List),
            '}' | ']' => {
                self.open.pop();
                self.end_value();
                if self.open.is_empty() {
                    self.state = State::Complete;
                }
                true
            }
            '"' => {
                let is_key = matches!(self.open.last(), Some(Step::Object(None)));
                self.state = State::Text {
                    is_key,
                    is_escaped: false,
                };
                self.word.clear();
                !is_key && self.add(Value::from(""))
            }
            ',' | ':' => false,
            blank if blank.is_whitespace() => false,
            other => {
                self.state = State::Word;
                self.word.clear();
                self.word.push(other);
                false
            }
        }
    }

    fn take_in_text(&mut self, character: char, is_key: bool, is_escaped: bool) -> bool {
        if character == '"' && !is_escaped {
            return self.end_text(is_key);
        }

        self.word.push(character);
        self.state = State::Text {
            is_key,
            is_escaped: character == '\\' && !is_escaped,
        };
        false
    }

    fn end_text(&mut self, is_key: bool) -> bool {
        let has_grown = if is_key {
            let key = unescaped(&self.word).unwrap_or_default();
            if let Some(Step::Object(next)) = self.open.last_mut() {
                *next = Some(key);
            }
            false
        } else {
            self.show_text();
            self.end_value();
            true
        };

        self.word.clear();
        self.state = State::Between;
        has_grown
    }

    /// Appends what is new of a text that is still arriving.
    fn show_text(&mut self) -> bool {
        let State::Text { is_key: false, .. } = self.state else {
            return false;
        };

        let complete = complete_part(&self.word);
        // An escape that JSON doesn't have is shown as it is, or the rest would never be shown.
        let (complete, text) = match self.word.get(..complete).and_then(unescaped) {
            Some(text) if complete > 0 || self.word.len() < 2 * LONGEST_ESCAPE => (complete, text),
            _ => (self.word.len(), self.word.clone()),
        };
        self.word.drain(..complete);

        match self.innermost_value() {
            Some(Value::String(shown)) if !text.is_empty() => {
                shown.push_str(&text);
                true
            }
            _ => false,
        }
    }

    fn end_word(&mut self) -> bool {
        self.state = State::Between;
        let value = serde_json::from_str(&self.word).ok();
        let has_grown = value.is_some_and(|value| self.add(value));
        self.end_value();
        has_grown
    }

    fn begin(&mut self, value: Value, step: Step) -> bool {
        if self.open.len() >= MAX_DEPTH {
            self.state = State::Complete;
            return false;
        }

        self.state = State::Between;
        let has_grown = self.add(value);
        self.open.push(step);
        has_grown
    }

    /// Adds a value to the innermost object or list.
    fn add(&mut self, value: Value) -> bool {
        let key = match self.open.last() {
            None => {
                self.root = value;
                return true;
            }
            Some(Step::Object(key)) => key.clone(),
            Some(Step::List) => None,
        };

        match (self.container(), key) {
            (Some(Value::Array(items)), _) => items.push(value),
            (Some(Value::Object(map)), Some(key)) => {
                map.insert(key, value);
            }
            _ => return false,
        }
        true
    }

    fn end_value(&mut self) {
        if let Some(Step::Object(key)) = self.open.last_mut() {
            *key = None;
        }
    }

    fn container(&mut self) -> Option<&mut Value> {
        let mut value = &mut self.root;
        let inner = self.open.len().saturating_sub(1);
        for step in self.open.iter().take(inner) {
            value = match (step, value) {
                (Step::List, Value::Array(items)) => items.last_mut()?,
                (Step::Object(Some(key)), Value::Object(map)) => map.get_mut(key)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// Returns the value that was added last.
    fn innermost_value(&mut self) -> Option<&mut Value> {
        let key = match self.open.last() {
            Some(Step::Object(key)) => key.clone(),
            _ => None,
        };

        match (self.container()?, key) {
            (Value::Array(items), _) => items.last_mut(),
            (Value::Object(map), Some(key)) => map.get_mut(&key),
            _ => None,
        }
    }
}

/// The number of characters of the longest escape, a surrogate pair.
const LONGEST_ESCAPE: usize = 12;

/// Returns the length of the part of an escaped text that doesn't end inside an escape.
fn complete_part(text: &str) -> usize {
    let from = text.len().saturating_sub(LONGEST_ESCAPE);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at));
    let from = from.unwrap_or(text.len());

    let ends = (from..=text.len()).rev();
    let mut ends = ends.filter(|end| text.is_char_boundary(*end));
    ends.find(|end| text.get(..*end).and_then(unescaped).is_some())
        .unwrap_or(0)
}

fn unescaped(text: &str) -> Option<String> {
    if !text.contains(['\\', '"']) && !text.contains(|character: char| character.is_control()) {
        return Some(text.to_owned());
    }
    serde_json::from_str(&format!("\"{text}\"")).ok()
}
