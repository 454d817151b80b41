//! Extracts the text of one key from a reply that is still arriving.

mod block;
mod escape;
mod folding;
mod lines;
mod plain;
mod quoted;
mod scalar;
mod seek;
mod step;
mod tags;
mod text;

pub use text::Growth;

use scalar::Scalar;
use seek::{Seek, Sought};
use step::Step;
use tags::Tags;
use text::Text;

/// Extracts the text of one key from a reply in YAML or JSON while the reply arrives, so that a
/// person can read the text as it grows.
///
/// Code fences, thinking between `<think>` tags and prose before the key are skipped. Quotes,
/// escapes, block scalars and folded lines are decoded. If the model starts over in a second block
/// or YAML document, so does the text.
///
/// The extractor is meant for display: it accepts any text, decodes well-formed YAML and JSON
/// exactly, and guesses the rest. After the reply was read, pass the text that was read to
/// [`finish`](Self::finish), which corrects a wrong guess. The work is linear in the length of the
/// reply.
///
/// ```
/// use cogwork_typed::ask::GrowingText;
///
/// let mut thinking = GrowingText::new("current_thinking");
/// let mut added = Vec::new();
///
/// for piece in ["```yaml\ncurrent_th", "inking: \"2 + 2 ", "is \\", "u0034.\"\nplanning:\n"] {
///     if let Some(growth) = thinking.push(piece) {
///         added.push(growth.added().to_owned());
///     }
/// }
///
/// assert_eq!(added, ["2 + 2", " is ", "4."]);
/// assert_eq!(thinking.text(), "2 + 2 is 4.");
/// ```
#[derive(Debug, Clone)]
pub struct GrowingText {
    wanted: Wanted,
    text: Text,
    tags: Tags,
    reading: Reading,
    seek: Seek,
    /// Whether the last character was a carriage return. A line feed after it belongs to the same
    /// line break.
    after_return: bool,
}

/// Where in a reply the text is.
#[derive(Debug, Clone)]
enum Wanted {
    /// The value of a key in YAML or JSON. Contains the letters of the key.
    Value(String),
    /// The text between the line of a key and that of another.
    Lines { key: String, others: Vec<String> },
    /// All of the reply.
    Reply,
}

impl Wanted {
    fn key(&self) -> &str {
        match self {
            Self::Value(key) | Self::Lines { key, .. } => key,
            Self::Reply => "",
        }
    }

    /// Returns how the beginning of a reply is read.
    fn reading(&self) -> Reading {
        match self {
            Self::Value(_) | Self::Lines { .. } => Reading::Seeking,
            Self::Reply => Reading::Scalar(Scalar::lines(Vec::new())),
        }
    }
}

#[derive(Debug, Clone)]
enum Reading {
    Seeking,
    Scalar(Scalar),
}

impl GrowingText {
    /// The maximum size of the text, in bytes: 1 MiB. A longer text stops growing, until
    /// [`finish`](Self::finish).
    pub const MAX_BYTES: usize = text::MAX_BYTES;

    /// Creates an extractor for the text of `key`. The case of the key, quotes around it, and the
    /// separators between its words don't matter.
    pub fn new(key: &str) -> Self {
        Self::of(Wanted::Value(seek::letters(key)))
    }

    /// Creates an extractor for a reply in lines such as `thought: …`. The text of `key` goes on
    /// until a line begins with one of the `others`. Such a reply may also be a JSON object.
    ///
    /// ```
    /// use cogwork_typed::ask::GrowingText;
    ///
    /// let mut thought = GrowingText::in_lines("thought", ["action"]);
    /// thought.push("thought: Two lines\nof text.\naction: search");
    /// assert_eq!(thought.text(), "Two lines\nof text.");
    /// ```
    pub fn in_lines<'k>(key: &str, others: impl IntoIterator<Item = &'k str>) -> Self {
        let others = others.into_iter().map(seek::letters);

        Self::of(Wanted::Lines {
            key: seek::letters(key),
            others: others.collect(),
        })
    }

    /// Creates an extractor for a reply that is the text itself, after any thinking in tags.
    pub fn of_reply() -> Self {
        Self::of(Wanted::Reply)
    }

    fn of(wanted: Wanted) -> Self {
        Self {
            text: Text::default(),
            tags: Tags::default(),
            reading: wanted.reading(),
            wanted,
            seek: Seek::default(),
            after_return: false,
        }
    }

    /// Adds a piece of the reply. Returns how the text grew, or `None` if it didn't.
    ///
    /// Blanks and line breaks are held back until the text continues after them.
    pub fn push(&mut self, piece: &str) -> Option<Growth<'_>> {
        self.text.begin_growth();

        for character in piece.chars() {
            self.take_outside_tags(character);
        }

        self.text.growth()
    }

    /// Ends the reply, with the text that was read from it. Returns the rest of the text, or all of
    /// it if it doesn't begin with the text so far, or `None` if they are equal.
    pub fn finish(&mut self, read: &str) -> Option<Growth<'_>> {
        self.text.begin_growth();
        self.text.replace(read);
        self.text.growth()
    }

    /// Begins with another reply. The text is empty until that reply contains one.
    pub fn reset(&mut self) {
        let wanted = std::mem::replace(&mut self.wanted, Wanted::Reply);

        *self = Self::of(wanted);
    }

    /// Returns the text so far.
    pub fn text(&self) -> &str {
        self.text.as_str()
    }

    fn take_outside_tags(&mut self, character: char) {
        match self.tags.take(character) {
            tags::Taken::Skipped => {}
            tags::Taken::Outside => self.take_any_break(character),
            tags::Taken::NoTag(before) => {
                before
                    .chars()
                    .for_each(|before| self.take_any_break(before));
                self.take_any_break(character);
            }
        }
    }

    /// Takes a character. Every line break becomes a line feed.
    fn take_any_break(&mut self, character: char) {
        let ends_pair = self.after_return && character == '\n';
        self.after_return = character == '\r';

        match character {
            '\n' if ends_pair => {}
            '\r' => self.take('\n'),
            _ => self.take(character),
        }
    }

    fn take(&mut self, character: char) {
        let Reading::Scalar(scalar) = &mut self.reading else {
            return self.look(character);
        };

        match scalar.take(character, &mut self.text) {
            Step::More => {}
            Step::Closed => {
                self.reading = Reading::Seeking;
                self.seek.go_on_in_line();
            }
            Step::EndedInLine => {
                self.reading = Reading::Seeking;
                self.seek.go_on_in_line();
                self.look(character);
            }
            Step::EndedBefore { column } => {
                self.reading = Reading::Seeking;
                self.seek.begin_line(column);
                self.look(character);
            }
        }
    }

    fn look(&mut self, character: char) {
        let Some(Sought { column, in_flow }) = self.seek.take(character, self.wanted.key()) else {
            return;
        };

        self.text.restart_at_next();
        self.reading = Reading::Scalar(match &self.wanted {
            Wanted::Lines { others, .. } if !in_flow => Scalar::lines(others.clone()),
            _ => Scalar::new(column, in_flow),
        });
    }
}
