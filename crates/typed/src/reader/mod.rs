//! Reads replies as values of a type: finds the value, fits it, and lets the type have the last
//! word.

mod bare;
mod meant;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::ask::{Repair, RepairKind, folded_name};
use cogwork_tools::in_json_words;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::AnswerKey;
use crate::candidates::{Candidate, candidates, lines, said};
use crate::fit::{Fitted, Fitter, UNKNOWN_KEY};
use crate::problem::{AnswerProblem, AnswerProblemKind as Kind};
use crate::shape::{ANSWER, Form, Words};
use crate::syntax::lines::without_begun_key;
use crate::syntax::{Ending, MAX_REPAIRS, Notes};
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
    words: Arc<Words>,
    settings: Settings,
    value: PhantomData<fn() -> T>,
}

#[derive(Debug, Clone, Copy)]
struct Settings {
    max_bytes: usize,
    takes_yaml: bool,
    needs_end: bool,
    /// Whether a reply that ends inside the value is read.
    takes_cut: bool,
    lines: Lines,
    takes_prose: bool,
    /// Whether the type accepts only what its schema does.
    is_strict: bool,
}

/// Whether lines of `key: value` are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    Refused,
    /// In place of JSON, which was asked for.
    Accepted,
    /// As they were asked for.
    Wanted,
}

/// A value, and what was corrected to read it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReadAnswer<T> {
    /// The value.
    pub value: T,
    /// The corrections. Empty if the reply is valid JSON that matches the schema.
    pub repairs: Vec<Repair>,
}

impl<T> ReadAnswer<T> {
    /// Returns how many missing parts were replaced by their defaults.
    fn lacks(&self) -> usize {
        let missing = |repair: &&Repair| repair.kind == RepairKind::MissingStatus;
        self.repairs.iter().filter(missing).count()
    }

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
            words: Arc::clone(&self.words),
            settings: self.settings,
            value: PhantomData,
        }
    }
}

impl<T> fmt::Debug for AnswerReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerReader")
            .field("type", &std::any::type_name::<T>())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
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
            words: Arc::new(Words::of(&form)),
            form: Arc::new(form),
            settings: Settings {
                max_bytes: 256 * 1024,
                takes_yaml: false,
                needs_end: false,
                takes_cut: false,
                lines: Lines::Refused,
                takes_prose: false,
                is_strict: false,
            },
            value: PhantomData,
        }
    }

    /// Reads lines of `key: value` in place of YAML. Such a reply is reported.
    #[must_use]
    pub fn with_lines(self) -> Self {
        self.reading(Lines::Accepted)
    }

    /// Reads lines of `key: value`, which were [asked for](Self::lines). JSON is accepted.
    #[must_use]
    pub fn in_lines(self) -> Self {
        self.reading(Lines::Wanted)
    }

    fn reading(mut self, lines: Lines) -> Self {
        Arc::make_mut(&mut self.words).has_lines = true;
        self.settings.lines = lines;
        self
    }

    /// Takes a reply without keys for the only text or list of the answer, apart from a `thought`.
    #[must_use]
    pub fn with_prose(mut self) -> Self {
        self.settings.takes_prose = true;
        self
    }

    /// Sets the maximum length of a reply in bytes. The default is 256 KiB.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_bytes = bytes;
        self
    }

    /// Takes YAML as it takes JSON, without a report.
    #[must_use]
    pub fn with_yaml(mut self) -> Self {
        self.settings.takes_yaml = true;
        self
    }

    /// Refuses YAML that no fence closes, because the rest of the reply may be missing.
    #[must_use]
    pub fn with_closed_value(mut self) -> Self {
        self.settings.needs_end = true;
        self
    }

    /// Reads a reply that ends inside the value as far as it goes, without the item of a list that
    /// it ends in. By default, such replies are refused.
    #[must_use]
    pub fn as_far_as_it_goes(mut self) -> Self {
        self.settings.takes_cut = true;
        self
    }

    /// Returns the JSON Schema that a server is asked to enforce. It describes an object: an answer
    /// of another type is its only value, under the key `answer`.
    pub fn schema(&self) -> String {
        self.form.schema()
    }

    /// Returns the JSON Schema without bounds, as the strict mode of OpenAI requires it, or `None`
    /// if such a schema can't describe the type: a map, a tuple, any value, or a type that contains
    /// itself.
    pub fn flat_schema(&self) -> Option<String> {
        self.form.flat_schema()
    }

    /// Returns the description of the answer for the model: a line for each key.
    pub fn description(&self) -> String {
        self.form.keys().trim_start().to_owned()
    }

    /// Reads a reply.
    ///
    /// # Errors
    ///
    /// Returns where the reply doesn't match the type, and what is expected there.
    pub fn read(&self, text: &str) -> Result<ReadAnswer<T>, AnswerProblem> {
        self.check_text(text)?;
        if self.settings.lines == Lines::Wanted
            && !is_json(text)
            && let Some(lines) = lines(text, &self.form)
        {
            return self.read_candidate(&lines);
        }

        let found = candidates(text, &self.words);
        let meant = self.meant(&found);
        let Some((last, earlier)) = meant.split_last() else {
            return self
                .read_lines(text)
                .unwrap_or_else(|| self.read_bare(text, &found));
        };

        let line = last.tree.line;
        let is_item = self.is_item(&last.tree);
        let is_object = matches!(last.tree.node, Node::Object(_)) && !is_item;
        if let Some(first) = earlier.first().filter(|_| !is_object) {
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
        self.read_last(earlier, last)
    }

    /// Reads each value of a reply that has several, in order.
    pub fn read_each(&self, text: &str) -> Vec<Result<ReadAnswer<T>, AnswerProblem>> {
        let found = candidates(text, &self.words);
        let meant = self.meant(&found).into_iter();
        meant
            .map(|candidate| self.read_candidate(candidate))
            .collect()
    }

    /// Returns what has arrived of the value in the beginning of a reply, as it is written.
    pub(crate) fn growing(&self, text: &str) -> Option<Value> {
        let tree = self.growing_tree(text)?;
        let is_nested = matches!(tree.node, Node::Object(_) | Node::List(_));
        is_nested.then(|| tree.to_value())
    }

    /// Returns what has arrived of the text of a key.
    pub(crate) fn growing_text(&self, text: &str, key: &str) -> Option<String> {
        let tree = self.growing_tree(text)?;
        let mut entries = tree.entries().iter().rev();
        let (_, value) = entries.find(|(name, _)| folded_name(name) == folded_name(key))?;
        match &value.node {
            Node::Text(text) | Node::Plain(text) | Node::Number(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn growing_tree(&self, text: &str) -> Option<Tree> {
        if self.settings.lines != Lines::Refused
            && !is_json(text)
            && let Some(lines) = lines(without_begun_key(text, &self.form), &self.form)
        {
            return Some(lines.tree);
        }

        let found = candidates(text, &self.words);
        let meant = self.meant(&found);
        let last = meant.last().copied().or(found.last());
        last.map_or_else(|| self.prose(text), |last| Some(last.tree.clone()))
    }

    /// Reads the last of several values, because a model that starts over has abandoned what it wrote
    /// before. An earlier one counts if the last one can't be used.
    fn read_last(
        &self,
        earlier: &[&Candidate],
        last: &Candidate,
    ) -> Result<ReadAnswer<T>, AnswerProblem> {
        let problem = match self.read_candidate(last) {
            Ok(mut read) => {
                if let Some(first) = earlier.first() {
                    let what = "left out this value, since a later one follows";
                    let repair = Repair::new(RepairKind::Prose, first.tree.line, what);
                    read.repairs.push(repair);
                }
                return Ok(read);
            }
            Err(problem) => problem,
        };

        // The model may have begun a correction, which is lost.
        if problem.kind() == Kind::CutOff {
            return Err(problem);
        }

        let mut readable = earlier.iter().rev().filter_map(|candidate| {
            let read = self.read_candidate(candidate).ok()?;
            Some((candidate.tree.line, read))
        });
        match readable.next() {
            Some((line, mut read)) => {
                let what = format!("used this value, since a later one can't be used: {problem}");
                let repair = Repair::new(RepairKind::EarlierBlock, line, what);
                read.repairs.push(repair);
                Ok(read)
            }
            None => Err(problem),
        }
    }

    fn check_text(&self, text: &str) -> Result<(), AnswerProblem> {
        if text.trim().is_empty() {
            return Err(self.no_value(Kind::Empty, 1, "the reply is empty"));
        }
        let max_bytes = self.settings.max_bytes;
        if text.len() > max_bytes {
            let length = text.len();
            let message = format!("the reply has {length} bytes; expected at most {max_bytes}");
            return Err(AnswerProblem::new(Kind::TooLong, 1, message));
        }
        Ok(())
    }

    fn fit(&self, tree: &Tree) -> Fitted {
        self.fitter(tree).fit(&self.form.root, tree)
    }

    fn fitter(&self, tree: &Tree) -> Fitter<'_> {
        Fitter::new(&self.form, &self.words, tree.size())
    }

    fn read_candidate(&self, candidate: &Candidate) -> Result<ReadAnswer<T>, AnswerProblem> {
        let settings = self.settings;
        let line = candidate.tree.line;
        let is_cut = candidate.notes.ending == Ending::Inside;
        let is_open = is_cut || candidate.notes.ending == Ending::Open;
        let needs_end = settings.needs_end && !candidate.is_closed;
        if needs_end || (is_open && !settings.takes_cut) {
            return Err(cut_off(line));
        }

        let whole = match is_cut {
            true => Err(cut_off(line)),
            false => self.read_whole(candidate),
        };
        let mut used = candidate.clone();
        let is_shorter = candidate.notes.is_cut_in_item && used.tree.drop_last_item();
        if !is_open || !(is_shorter || is_cut) {
            return whole;
        }

        let what = "left out the last item, which is incomplete";
        used.notes.repair(RepairKind::CutOff, line, what);
        match (whole, self.read_whole(&used)) {
            (Ok(whole), Ok(shorter)) if shorter.lacks() < whole.lacks() => Ok(shorter),
            (Err(_), Ok(shorter)) => Ok(shorter),
            (whole, _) => whole,
        }
    }

    /// Reads a candidate as it is.
    fn read_whole(&self, candidate: &Candidate) -> Result<ReadAnswer<T>, AnswerProblem> {
        let line = candidate.tree.line;
        let mut notes = candidate.notes.clone();
        if candidate.is_yaml && !self.settings.takes_yaml {
            let repair = Repair::new(RepairKind::Form, line, "read YAML in place of JSON");
            notes.repairs.insert(0, repair);
        }

        let read = self.read_tree(&candidate.tree, &notes);
        let Some((line, doubt)) = &notes.doubt else {
            return read;
        };
        let also = read.err().map(|problem| format!(" ({problem})"));
        let also = also.unwrap_or_default();
        let form = match candidate.is_yaml && self.settings.takes_yaml {
            true => "YAML",
            false => "JSON",
        };
        let message = format!("{doubt}; expected valid {form}{also}");
        Err(AnswerProblem::new(Kind::Malformed, *line, message))
    }

    /// Reads a value, be it wrapped under the key `answer` or not.
    fn read_tree(&self, tree: &Tree, notes: &Notes) -> Result<ReadAnswer<T>, AnswerProblem> {
        let Some(inner) = self.wrapped(tree) else {
            return self.read_value(tree, "", notes);
        };

        self.read_value(inner, &format!("/{ANSWER}"), notes)
    }

    fn read_value(
        &self,
        tree: &Tree,
        prefix: &str,
        notes: &Notes,
    ) -> Result<ReadAnswer<T>, AnswerProblem> {
        let mut fitted = self.fit(tree);
        let located = |problem: &AnswerProblem| {
            let pointer = format!("{prefix}{}", problem.pointer());
            problem.clone().at(pointer)
        };

        if let Some(refusal) = &fitted.refusal {
            return Err(located(refusal));
        }
        if notes.ending == Ending::Unclosed && fitted.may_lack_parts {
            return Err(cut_off(tree.line));
        }

        if self.settings.is_strict
            && let Some(problem) = joined(fitted.mismatches.iter().map(located))
        {
            return Err(problem);
        }

        // The type may know a key by an alias, or refuse unknown keys.
        let value = deserialized(&fitted.take_value(tree)).or_else(|problem| {
            let known = fitted.has_unknown.then(|| {
                let mut fitter = self.fitter(tree).without_unknown();
                fitter.fit(&self.form.root, tree).take_value(tree)
            });
            known
                .and_then(|known| deserialized(&known).ok())
                .ok_or(problem)
        });
        let value = value.map_err(|(pointer, message)| {
            let is_there = |mismatch: &&AnswerProblem| mismatch.pointer() == pointer;
            let mismatches = &fitted.mismatches;
            let reason = mismatches.iter().find(is_there).or(mismatches.first());
            reason.map(located).unwrap_or_else(|| {
                let line = line_of(tree, &pointer);
                AnswerProblem::new(Kind::Mismatch, line, message).at(format!("{prefix}{pointer}"))
            })
        })?;

        let accepted = fitted.mismatches.iter().map(|mismatch| {
            let what = format!("left this to the type: {}", mismatch.message());
            Repair::new(RepairKind::Form, mismatch.line(), what)
        });
        // The type may have taken an unknown key for one that is missing.
        let is_exact = fitted.mismatches.is_empty();
        let is_known = |repair: &Repair| is_exact || !repair.what.contains(UNKNOWN_KEY);
        let repairs = notes
            .repairs
            .iter()
            .cloned()
            .chain(fitted.repairs.into_iter().filter(is_known))
            .chain(accepted);
        Ok(ReadAnswer {
            value,
            repairs: repairs.take(MAX_REPAIRS).collect(),
        })
    }

    /// Reads lines in place of JSON; `None` if there are none.
    fn read_lines(&self, text: &str) -> Option<Result<ReadAnswer<T>, AnswerProblem>> {
        if self.settings.lines == Lines::Refused {
            return None;
        }

        let mut lines = lines(text, &self.form)?;
        let what = "read lines in place of JSON";
        let repair = Repair::new(RepairKind::Form, lines.tree.line, what);
        lines.notes.repairs.insert(0, repair);
        Some(self.read_candidate(&lines))
    }
}

impl AnswerReader<Value> {
    /// Creates a reader of objects with these keys, for questions that are put together when a
    /// program runs. The value is the object.
    pub fn of_keys(keys: impl IntoIterator<Item = AnswerKey>) -> Self {
        let keys = keys.into_iter().map(|AnswerKey(property)| property);
        let mut reader = Self::of_form(Form::of_keys(keys.collect()));
        reader.settings.is_strict = true;
        reader
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

    /// Returns the description of the JSON object that the model is asked for: a line for each key.
    pub fn keys(&self) -> String {
        self.form.offered().keys()
    }

    /// Returns an example of the JSON object on one line, as in `{"thought": "…", "steps": ["…"]}`.
    pub fn example(&self) -> String {
        self.form.offered().example()
    }

    /// Returns the JSON Schema of an object that takes at most this many tokens, or `None` if there
    /// is none. Texts and lists are bounded; a key that may be missing may be null instead.
    pub fn schema_within(&self, tokens: usize) -> Option<String> {
        let schema = self.form.offered().within(tokens)?;
        Some(schema.to_string())
    }

    /// Returns the JSON Schema of the object without bounds, as the strict mode of OpenAI requires
    /// it.
    pub fn strict_schema(&self) -> Option<String> {
        self.form.offered().flat_schema()
    }
}

/// The maximum number of mismatches that one complaint lists.
const MAX_TOLD: usize = 8;

/// Returns one problem for all of them, at the place of the first one.
fn joined(mut problems: impl Iterator<Item = AnswerProblem>) -> Option<AnswerProblem> {
    let first = problems.next()?;
    let others = problems.take(MAX_TOLD - 1);
    let message = others.fold(first.message().to_owned(), |message, other| {
        let is_at_same_place = other.line() == first.line() && other.pointer() == first.pointer();
        match is_at_same_place {
            true => format!("{message}; {}", other.message()),
            false => format!("{message}; {other}"),
        }
    });
    Some(AnswerProblem::new(first.kind(), first.line(), message).at(first.pointer()))
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

fn cut_off(line: usize) -> AnswerProblem {
    let message = "the reply ends inside the value; expected all of it";
    AnswerProblem::new(Kind::CutOff, line, message)
}

/// Returns the value, or the pointer to what is wrong, and what is expected there.
fn deserialized<T: DeserializeOwned>(value: &Value) -> Result<T, (String, String)> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let pointer = pointer(error.path());
        (pointer, in_json_words(error.inner()))
    })
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;

    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(format!("/{index}")),
            Segment::Map { key } => Some(format!("/{}", key.replace('~', "~0").replace('/', "~1"))),
            _ => None,
        })
        .collect()
}

/// Returns the line of the innermost value on the way to a place.
fn line_of(tree: &Tree, pointer: &str) -> usize {
    let mut inner = tree;
    for part in pointer.split('/').skip(1) {
        let mut entries = inner.entries().iter();
        let next = match &inner.node {
            Node::List(items) => part.parse().ok().and_then(|at: usize| items.get(at)),
            _ => entries.find(|(key, _)| key == part).map(|(_, tree)| tree),
        };
        let Some(next) = next else {
            break;
        };
        inner = next;
    }
    inner.line
}

/// The name of a type in requests: at most 64 letters, digits, `_` and `-`.
pub(crate) fn schema_name<T: JsonSchema>() -> String {
    let allowed = |sign: char| {
        if sign.is_ascii_alphanumeric() {
            sign
        } else {
            '_'
        }
    };
    let name: String = T::schema_name().chars().map(allowed).take(64).collect();

    if name.is_empty() {
        ANSWER.to_owned()
    } else {
        name
    }
}
