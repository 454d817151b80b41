//! Reads replies as values of a type.
//!
//! ```text
//! reply → candidates → syntax: a tree with lines, repairs, at most one doubt → which one is meant
//!       → fit: the tree in the shape of the type, repairs by shape → the type has the last word
//! ```
//!
//! - `candidates` and `fenced` find the parts of a reply that may be the value.
//! - `syntax` reads JSON, YAML and lines of `key: value` as models write them.
//! - `meant` chooses among several values, `bare` reads a reply that has none.
//! - `value` reads the chosen one with the help of `fit`.

mod bare;
mod meant;
mod value;

use std::marker::PhantomData;
use std::sync::Arc;

use cogwork_llm::ReplyFormat;
use cogwork_llm::backend::{Capabilities, SplitThinking, split_thinking};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::AnswerKey;
use crate::ask::{Format, Repair, RepairKind, folded_name};
use crate::candidates::{MAX_FOUND, candidates, lines, said, without_thinking};
use crate::problem::{AnswerProblem, AnswerProblemKind as Kind};
use crate::shape::{AnswerSchema, Form};
use crate::syntax::lines::without_begun_key;
use crate::syntax::{Notes, Parsed};
use crate::tree::{Node, Tree};

/// Reads replies of models as values of `T`.
///
/// The value is found in JSON or YAML, in code fences, after thinking in `<think>` tags and between
/// prose. Differences that have only one meaning are corrected, and each correction is reported:
/// malformed JSON, keys and variants in another case, `"3"` where a number is expected, `"yes"`
/// where a truth value is, a single value where a list is. A value that could mean several things
/// is refused.
///
/// ```
/// use cogwork_typed::AnswerReader;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
/// struct Invoice { vendor: String, total: f64, paid: bool }
///
/// let read = AnswerReader::<Invoice>::new()
///     .read("Here it is:\n```json\n{vendor: 'ACME', Total: \"1,234.50\", paid: no}\n```")?;
///
/// assert_eq!(read.value, Invoice { vendor: "ACME".to_owned(), total: 1234.5, paid: false });
/// assert_eq!(read.repairs.len(), 8);
/// # Ok::<(), cogwork_typed::AnswerProblem>(())
/// ```
pub struct AnswerReader<T> {
    pub(crate) form: Arc<Form>,
    settings: Settings,
    /// Refuses values that `T` accepts.
    check: Option<Arc<Check<T>>>,
    value: PhantomData<fn() -> T>,
}

type Check<T> = dyn Fn(&T) -> Result<(), String> + Send + Sync;

#[derive(Debug, Clone, Copy, Default)]
struct Settings {
    needs_end: bool,
    /// Whether lines of `key: value` were asked for.
    takes_lines: bool,
    takes_prose: bool,
    /// Whether the reply itself is the answer.
    is_text: bool,
}

/// The maximum length of a reply in bytes.
pub(crate) const MAX_BYTES: usize = 256 * 1024;

/// A value, and what was corrected to read it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReadAnswer<T> {
    /// The value.
    pub value: T,
    /// The corrections. Empty if the reply is valid JSON or YAML that matches the schema.
    pub repairs: Vec<Repair>,
}

impl<T> ReadAnswer<T> {
    /// Converts the value.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> ReadAnswer<U> {
        ReadAnswer {
            value: convert(self.value),
            repairs: self.repairs,
        }
    }
}

impl<T> Clone for AnswerReader<T> {
    fn clone(&self) -> Self {
        Self {
            form: Arc::clone(&self.form),
            settings: self.settings,
            check: self.check.clone(),
            value: PhantomData,
        }
    }
}

impl<T: JsonSchema + DeserializeOwned> Default for AnswerReader<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: JsonSchema + DeserializeOwned> AnswerReader<T> {
    /// Creates a reader.
    pub fn new() -> Self {
        Self::of_form(Form::of::<T>())
    }

    fn of_form(form: Form) -> Self {
        Self {
            form: Arc::new(form),
            settings: Settings::default(),
            check: None,
            value: PhantomData,
        }
    }

    /// Refuses values for which `check` returns what is expected instead, as if the type didn't accept
    /// them. If it refuses unknown keys, the value is read without them, which is reported.
    #[must_use]
    pub fn with_check(
        mut self,
        check: impl Fn(&T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Reads lines of `key: value`, which were [asked for](Self::lines). JSON is accepted.
    #[must_use]
    pub fn in_lines(mut self) -> Self {
        self.settings.takes_lines = true;
        self
    }

    /// Takes a reply without keys for the only text or list of the answer, apart from a `thought`.
    #[must_use]
    pub fn with_prose(mut self) -> Self {
        self.settings.takes_prose = true;
        self
    }

    /// Refuses YAML that no fence closes, because the rest of the reply may be missing.
    #[must_use]
    pub fn with_closed_value(mut self) -> Self {
        self.settings.needs_end = true;
        self
    }

    /// Returns the JSON Schema that a server is asked to enforce. It describes an object: an answer
    /// of another type is its only value, under the key `answer`.
    pub fn schema(&self) -> String {
        self.form.asked().schema()
    }

    /// Returns the JSON Schema as the strict mode of OpenAI requires it, or `None` if such a schema
    /// can't describe the type: a map, a tuple, or any value. It has no bounds and references. A type
    /// that contains itself has three levels.
    pub fn flat_schema(&self) -> Option<AnswerSchema> {
        self.form.asked().flat_schema()
    }

    /// Returns a schema whose longest value fits into a number of tokens, or `None` if there is none.
    /// See [`AnswerSchema`].
    pub fn schema_within(&self, tokens: u32) -> Option<AnswerSchema> {
        let tokens = usize::try_from(tokens).unwrap_or(usize::MAX);
        self.form.asked().within(tokens)
    }

    /// Returns the formats to request, tightest first: those from `first` on, or by default those that
    /// a client with these capabilities is known to support.
    pub fn formats(&self, first: Option<Format>, capabilities: Capabilities) -> Vec<Format> {
        if self.is_text() {
            return vec![Format::Text];
        }

        let flat = self.flat_schema().map(|flat| flat.to_string());
        let mut formats = Format::from_first(first, capabilities);
        let has_schema = formats.contains(&Format::Schema);

        // An equal schema would be refused as well.
        let is_useful = flat.is_some_and(|flat| !has_schema || flat != self.schema());
        formats.retain(|format| *format != Format::FlatSchema || is_useful);
        formats
    }

    /// Returns what a server is asked to enforce in this format. With `max_tokens`, it is `None` for
    /// [`Format::Schema`] if [no schema](Self::schema_within) allows only replies that fit.
    pub fn reply_format(&self, format: Format, max_tokens: Option<u32>) -> Option<ReplyFormat> {
        let schema = match format {
            Format::Schema => match max_tokens {
                Some(tokens) => self.schema_within(tokens)?.to_string(),
                None => self.schema(),
            },
            Format::FlatSchema => self.flat_schema()?.to_string(),
            Format::Json => return Some(ReplyFormat::Json),
            Format::Text => return None,
        };
        Some(ReplyFormat::schema("reply", schema))
    }

    /// Returns the instruction to the model to answer with such a value, in this format. It begins
    /// with `what`, as in "Answer with".
    pub fn instruction(&self, what: &str, format: Format) -> String {
        let keys = self.description();
        let instruction = format!("{what} one JSON object with these keys:\n{keys}");

        // Small models copy the example, so it is only used if no schema shows the structure.
        if matches!(format, Format::Schema | Format::FlatSchema) {
            instruction
        } else {
            let example = self.form.asked().example();
            format!("{instruction}\n\nIts structure: {example}")
        }
    }

    /// Returns the description of the answer for the model: a line for each key.
    pub fn description(&self) -> String {
        self.form.asked().keys().trim_start().to_owned()
    }

    /// Reads a reply.
    ///
    /// # Errors
    ///
    /// Returns where the reply doesn't match the type, and what is expected there.
    pub fn read(&self, text: &str) -> Result<ReadAnswer<T>, AnswerProblem> {
        if self.settings.is_text {
            return read_text(text);
        }

        self.check_text(text)?;
        // Before the search for JSON, since the value of a line may contain some.
        if let Some(lines) = self.lines_of(text, text) {
            return self.read_candidate(&lines);
        }

        let found = candidates(text, &self.form.words);
        let meant = self.meant(&found);
        let Some((last, earlier)) = meant.split_last() else {
            return self.read_bare(text, &found);
        };

        let line = last.tree.line;
        if found.last().is_some_and(|found| found.is_surplus) {
            let message = format!("the reply has more than {MAX_FOUND} values; expected one");
            return Err(AnswerProblem::new(Kind::Ambiguous, line, message));
        }

        let is_item = self.is_item(&last.tree);
        let is_clear = matches!(last.tree.node, Node::Object(_)) && !is_item;
        if let Some(first) = earlier.first().filter(|_| !is_clear) {
            let first = first.tree.line;
            let expected = if is_item { "one list" } else { "one" };
            let message = format!(
                "the reply has values on the lines {first} and {line}; expected {expected}"
            );
            return Err(AnswerProblem::new(Kind::Ambiguous, line, message));
        }

        // The list could not be read, so the object may not be its only item.
        if is_item && last.is_in_list {
            let message =
                "the object is part of a list that cannot be read; expected the whole list";
            return Err(AnswerProblem::new(Kind::Malformed, line, message));
        }

        // A model that starts over has abandoned what it wrote before.
        let mut read = self.read_candidate(last).or_else(|problem| {
            // An item such as `Name: what it is` is an object in YAML.
            let mut notes = Notes::default();
            let list = self.list_in_lines(text, &mut notes);
            let list = list.filter(|_| last.is_yaml).ok_or(problem)?;
            self.read_value(&list, "", &notes)
        })?;
        if let Some(first) = earlier.first() {
            let what = "left out this value, since a later one follows";
            let repair = Repair::new(RepairKind::Prose, first.tree.line, what);
            read.repairs.push(repair);
        }
        Ok(read)
    }

    /// Reads each value of a reply that has several, in order. A reply that is too long has none.
    pub fn read_each(&self, text: &str) -> Vec<Result<ReadAnswer<T>, AnswerProblem>> {
        if self.check_text(text).is_err() {
            return Vec::new();
        }

        let found = candidates(text, &self.form.words);
        let meant = self.meant(&found).into_iter();
        meant
            .map(|candidate| self.read_candidate(candidate))
            .collect()
    }

    /// Returns whether the answers are texts, as the model writes them.
    pub(crate) fn is_text(&self) -> bool {
        self.settings.is_text
    }

    /// Returns what has arrived of the value in the beginning of a reply, as it is written.
    pub(crate) fn growing(&self, text: &str) -> Option<Value> {
        if self.settings.is_text {
            let text = without_thinking(text).trim();
            return (!text.is_empty()).then(|| text.into());
        }

        let tree = self.growing_tree(text)?;
        // A word of prose may be taken for a text or a number that has just begun.
        let is_nested = matches!(tree.node, Node::Object(_) | Node::List(_));
        is_nested.then(|| tree.to_value())
    }

    /// Returns what has arrived of the text of a key in the beginning of a reply.
    pub fn growing_text(&self, text: &str, key: &str) -> Option<String> {
        let tree = self.growing_tree(text)?;
        // Of several values of a key, the last one counts, as in the whole reply.
        let mut entries = tree.entries().iter().rev();
        let (_, value) = entries.find(|(name, _)| folded_name(name) == folded_name(key))?;
        match &value.node {
            Node::Text(text) | Node::Plain(text) | Node::Number(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn growing_tree(&self, text: &str) -> Option<Tree> {
        if let Some(lines) = self.lines_of(text, without_begun_key(text, &self.form)) {
            return Some(lines.tree);
        }

        let found = candidates(text, &self.form.words);
        let meant = self.meant(&found);
        let last = meant.last().copied().or(found.last());
        last.map_or_else(
            || self.prose(text, &mut Notes::default()),
            |last| Some(last.tree.clone()),
        )
    }

    fn check_text(&self, text: &str) -> Result<(), AnswerProblem> {
        if text.trim().is_empty() {
            return Err(self.no_value(Kind::Empty, 1, "the reply is empty"));
        }
        // The door: what is behind it needs no further limits of length.
        if text.len() > MAX_BYTES {
            let length = text.len();
            let message = format!("the reply has {length} bytes; expected at most {MAX_BYTES}");
            return Err(AnswerProblem::new(Kind::TooLong, 1, message));
        }
        Ok(())
    }

    /// Returns the lines of a part of a reply that isn't in JSON, if they were asked for.
    fn lines_of(&self, reply: &str, part: &str) -> Option<Parsed> {
        let is_asked = self.settings.takes_lines && !is_json(reply);
        is_asked.then(|| lines(part, &self.form)).flatten()
    }
}

impl AnswerReader<String> {
    /// Creates a reader of answers in text: a reply without its thinking.
    pub fn text() -> Self {
        let mut reader = Self::new();
        reader.settings.is_text = true;
        reader
    }
}

impl AnswerReader<Value> {
    /// Creates a reader of values that a JSON Schema describes.
    ///
    /// It checks types, bounds and choices. Other keywords, such as `pattern` and `uniqueItems`, are
    /// for [`with_check`](Self::with_check) and `cogwork_text::check_by_schema`.
    pub fn of_schema(schema: &Value) -> Self {
        Self::of_form(Form {
            keeps_open_keys: true,
            ..Form::of_schema(schema)
        })
    }

    /// Creates a reader of objects with these keys, for questions that are put together when a
    /// program runs. The value is the object.
    pub fn of_keys(keys: impl IntoIterator<Item = AnswerKey>) -> Self {
        let keys = keys.into_iter().map(|AnswerKey(property)| property);
        Self::of_form(Form::of_keys(keys.collect()))
    }

    /// Returns a value in the form of the answers.
    ///
    /// ```
    /// use cogwork_typed::{AnswerKey, AnswerReader};
    /// use serde_json::json;
    ///
    /// let score = AnswerKey::new("score", "how good it is", &json!({"type": "integer"}));
    /// let reader = AnswerReader::of_keys([score]);
    /// assert_eq!(reader.fit_value(&json!({"score": "7"}))?, json!({"score": 7}));
    /// assert!(reader.fit_value(&json!({"score": "good"})).is_err());
    /// # Ok::<(), cogwork_typed::AnswerProblem>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns where the value doesn't match, and what is expected there.
    pub fn fit_value(&self, value: &Value) -> Result<Value, AnswerProblem> {
        let read = self.read_value(&Tree::from(value), "", &Notes::default())?;
        Ok(read.value)
    }

    /// Leaves out lines with these names, which models add without being asked.
    #[must_use]
    pub fn leaving_out<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names = names.into_iter().map(str::to_owned);
        Arc::make_mut(&mut self.form).left_out = names.collect();
        self
    }

    /// Returns the description of the lines that the model is asked for.
    pub fn lines(&self) -> String {
        self.form.lines()
    }
}

/// Reads a reply without its thinking.
fn read_text<T: DeserializeOwned>(text: &str) -> Result<ReadAnswer<T>, AnswerProblem> {
    let has_answer = |split: &SplitThinking<'_>| !split.answer.trim().is_empty();
    // Many servers put the opening tag into the prompt, so that the reply has only the closing one.
    let split = split_thinking(text).filter(|split| split.is_opened || has_answer(split));
    let answer = split.map_or(text, |split| split.answer.trim_start());
    if answer.trim().is_empty() {
        let message = "the reply is empty; expected an answer";
        return Err(AnswerProblem::new(Kind::Empty, 1, message));
    }

    let value = serde_json::from_value(answer.into());
    let value = value.map_err(|error| AnswerProblem::new(Kind::Mismatch, 1, error.to_string()))?;
    Ok(ReadAnswer {
        value,
        repairs: Vec::new(),
    })
}

/// Returns whether a reply begins with an object in JSON.
fn is_json(text: &str) -> bool {
    let (said, _) = said(text);
    let is_fenced = said.starts_with("```");
    let inside = said.split_once('\n').filter(|_| is_fenced);
    inside
        .map_or(said, |(_, inside)| inside.trim_start())
        .starts_with('{')
}
