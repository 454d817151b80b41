use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use cogwork_ask::{Cut, NoAnswer, Repair, RepairKind, no_answer, stated_answer};
use cogwork_text::NameList;
use cogwork_tools::in_json_words;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::fit::{Fitted, Fitter};
use crate::problem::{AnswerProblem, AnswerProblemKind as Kind};
use crate::reply::{Candidate, Node, Source, Tree, Wanted, candidates};
use crate::shape::{ANSWER, Form, Shape};

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
    max_bytes: usize,
    value: PhantomData<fn() -> T>,
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

impl<T> Clone for AnswerReader<T> {
    fn clone(&self) -> Self {
        Self {
            form: Arc::clone(&self.form),
            max_bytes: self.max_bytes,
            value: PhantomData,
        }
    }
}

impl<T> fmt::Debug for AnswerReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerReader")
            .field("type", &std::any::type_name::<T>())
            .field("max_bytes", &self.max_bytes)
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
        Self {
            form: Arc::new(Form::of::<T>()),
            max_bytes: 256 * 1024,
            value: PhantomData,
        }
    }

    /// Sets the maximum length of a reply in bytes. The default is 256 KiB.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
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

        let wanted = Wanted {
            is_key: |key: &str| self.is_key(key),
            is_list: matches!(
                self.form.resolve(&self.form.root),
                Shape::List(..) | Shape::Tuple(_) | Shape::Any | Shape::AnyOf(_)
            ),
        };
        let found = candidates(text, &wanted);
        let last = found.iter().rposition(|candidate| self.is_meant(candidate));
        let Some(last) = last else {
            return self
                .read_item(&found)
                .unwrap_or_else(|| self.read_bare(text, &found));
        };

        let problem = match found
            .get(last)
            .map(|candidate| self.read_candidate(candidate))
        {
            Some(Ok(read)) => return Ok(read),
            Some(Err(problem)) => problem,
            None => return self.read_bare(text, &found),
        };

        // The model may have begun a correction, which is lost.
        if problem.kind() == Kind::CutOff {
            return Err(problem);
        }

        let earlier = found.iter().take(last).rev();
        let mut readable = earlier.filter_map(|candidate| {
            let read = self.read_candidate(candidate).ok()?;
            Some((candidate.line, read))
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
            let message = format!("the reply is empty; expected {}", self.expected());
            return Err(AnswerProblem::new(Kind::Empty, 1, message));
        }
        if text.len() > self.max_bytes {
            let message = format!(
                "the reply has {} bytes; expected at most {}",
                text.len(),
                self.max_bytes
            );
            return Err(AnswerProblem::new(Kind::TooLong, 1, message));
        }
        Ok(())
    }

    fn expected(&self) -> String {
        let root = self.form.resolve(&self.form.root);
        let names: Vec<String> = match root {
            Shape::Object(object) => object
                .properties
                .iter()
                .map(|property| format!("`{}`", property.name))
                .collect(),
            _ => vec![format!("`{ANSWER}`")],
        };
        if names.is_empty() {
            return "a JSON object".to_owned();
        }
        format!("a JSON object with {}", names.join(", "))
    }

    /// Returns whether a key belongs to the top level of the answer.
    fn is_key(&self, key: &str) -> bool {
        match self.form.resolve(&self.form.root) {
            Shape::Object(object) => object.has_key(key),
            root => key.eq_ignore_ascii_case(ANSWER) || self.is_key_of(root, key),
        }
    }

    fn is_key_of(&self, shape: &Shape, key: &str) -> bool {
        match self.form.resolve(shape) {
            Shape::Object(object) => object.has_key(key),
            Shape::Map(_) => true,
            Shape::AnyOf(shapes) => shapes.iter().any(|shape| match self.form.resolve(shape) {
                Shape::Object(object) => object.has_key(key),
                _ => false,
            }),
            _ => false,
        }
    }

    /// Returns whether an object of the answer may have a key `answer` by itself.
    fn has_answer_key(&self) -> bool {
        let root = self.form.resolve(&self.form.root);
        let items = match root {
            Shape::List(items, _) => self.form.resolve(items),
            _ => root,
        };

        items == &Shape::Any || self.is_key_of(items, ANSWER)
    }

    /// Returns whether a candidate is an attempt at the answer, rather than an example or a list of
    /// something else.
    fn is_meant(&self, candidate: &Candidate) -> bool {
        let Source::Value(tree) = &candidate.source else {
            return true;
        };

        match &tree.node {
            Node::Object(entries) => entries.iter().any(|(key, value)| {
                let is_wrapper = entries.len() == 1
                    && matches!(&value.node, Node::Object(inner) if inner.iter().any(|(key, _)| self.is_key(key)));
                self.is_key(key) || is_wrapper
            }) || ((entries.is_empty() || !self.has_keys()) && self.fit(tree).matches()),
            Node::List(items) => match self.form.resolve(&self.form.root) {
                Shape::List(..) | Shape::Tuple(_) | Shape::Any | Shape::AnyOf(_) => true,
                Shape::Object(_) => items.len() == 1 && self.fit(tree).matches(),
                _ => false,
            },
            Node::Text(text) => self.form.is_wrapped() || text.trim().starts_with('{'),
            _ => self.form.is_wrapped(),
        }
    }

    /// Returns whether an object of the answer can be recognized by its keys.
    fn has_keys(&self) -> bool {
        match self.form.resolve(&self.form.root) {
            Shape::Object(object) => !object.properties.is_empty(),
            _ => true,
        }
    }

    fn fit(&self, tree: &Tree) -> Fitted {
        Fitter::new(&self.form, tree).fit(&self.form.root, tree)
    }

    fn read_candidate(&self, candidate: &Candidate) -> Result<ReadAnswer<T>, AnswerProblem> {
        let tree = match &candidate.source {
            Source::Value(tree) => tree,
            Source::Malformed(problem) => {
                let message = format!("{problem}; expected {}", self.expected());
                return Err(AnswerProblem::new(Kind::Malformed, candidate.line, message));
            }
        };

        let result = self.read_tree(tree, candidate);
        if candidate.cut == Some(Cut::InsideValue) {
            let message = "the reply ends inside the value; expected all of it";
            return Err(AnswerProblem::new(Kind::CutOff, candidate.line, message));
        }
        if let Some(doubt) = &candidate.doubt {
            let problem = result
                .err()
                .map_or_else(String::new, |problem| format!(" ({problem})"));
            let message = format!("the JSON is malformed: {doubt}; expected valid JSON{problem}");
            return Err(AnswerProblem::new(Kind::Malformed, candidate.line, message));
        }
        result
    }

    /// Reads a value, be it wrapped under the key `answer` or not.
    fn read_tree(
        &self,
        tree: &Tree,
        candidate: &Candidate,
    ) -> Result<ReadAnswer<T>, AnswerProblem> {
        if !self.form.is_wrapped() {
            return self.read_value(tree, "", candidate);
        }

        let wrapped = match &tree.node {
            Node::Object(entries) => match entries.as_slice() {
                [(key, value)] if key.eq_ignore_ascii_case(ANSWER) => Some(value),
                _ => None,
            },
            _ => None,
        };
        let Some(inner) = wrapped else {
            return self.read_value(tree, "", candidate);
        };

        let within = self.read_value(inner, &format!("/{ANSWER}"), candidate);
        if !self.has_answer_key() {
            return within;
        }
        within.or_else(|problem| self.read_value(tree, "", candidate).map_err(|_| problem))
    }

    fn read_value(
        &self,
        tree: &Tree,
        prefix: &str,
        candidate: &Candidate,
    ) -> Result<ReadAnswer<T>, AnswerProblem> {
        let fitted = self.fit(tree);
        let located = |problem: &AnswerProblem| {
            let pointer = format!("{prefix}{}", problem.pointer());
            problem.clone().at(pointer)
        };

        if let Some(refusal) = &fitted.refusal {
            return Err(located(refusal));
        }
        if candidate.cut.is_some() && fitted.may_lack_parts {
            let message = "the reply ends inside the value; expected all of it";
            return Err(AnswerProblem::new(Kind::CutOff, tree.line, message));
        }

        let value = deserialized(&fitted.value).map_err(|(pointer, message)| {
            match fitted.mismatches.first() {
                Some(mismatch) => located(mismatch),
                None => {
                    let line = line_of(tree, &pointer);
                    AnswerProblem::new(Kind::Mismatch, line, message)
                        .at(format!("{prefix}{pointer}"))
                }
            }
        })?;

        let mut repairs = candidate.repairs.clone();
        repairs.extend(fitted.repairs);
        Ok(ReadAnswer { value, repairs })
    }

    /// Reads the only item of a list that isn't in a list; `None` if there is none.
    fn read_item(&self, found: &[Candidate]) -> Option<Result<ReadAnswer<T>, AnswerProblem>> {
        let Shape::List(items, _) = self.form.resolve(&self.form.root) else {
            return None;
        };

        let mut meant = found.iter().filter(|candidate| {
            let mut keys = candidate.keys();
            keys.any(|key| self.is_key_of(items, key))
        });
        let item = meant.next()?;
        if meant.next().is_some() {
            let message = "the reply has several objects; expected one list of them";
            return Some(Err(AnswerProblem::new(Kind::Ambiguous, item.line, message)));
        }

        // The list could not be read, so the object may not be its only item.
        if item.is_in_list {
            let message =
                "the object is part of a list that cannot be read; expected the whole list";
            return Some(Err(AnswerProblem::new(Kind::Malformed, item.line, message)));
        }

        Some(self.read_candidate(item))
    }

    /// Reads a reply that has no object or list of the wanted form.
    fn read_bare(&self, text: &str, found: &[Candidate]) -> Result<ReadAnswer<T>, AnswerProblem> {
        if no_answer(text, "") == Some(NoAnswer::Refusal) {
            let message = format!("the reply declines to answer; expected {}", self.expected());
            return Err(AnswerProblem::new(Kind::Declined, 1, message));
        }

        let mut objects = found.iter().rev();
        let other = objects.find(|candidate| candidate.keys().next().is_some());
        let is_single_value = matches!(
            self.form.resolve(&self.form.root),
            Shape::Choice(_)
                | Shape::Integer(_)
                | Shape::Number(_)
                | Shape::Boolean
                | Shape::AnyOf(_)
        );
        let answer = bare_answer(text).filter(|_| is_single_value && other.is_none());

        if let Some((answer, line)) = answer {
            let tree = Tree::new(line, Node::Plain(answer.to_owned()));
            let what = "read a value that isn't in JSON";
            let candidate = Candidate {
                repairs: vec![Repair::new(RepairKind::Form, line, what)],
                ..Candidate::value(tree.clone())
            };
            return self.read_value(&tree, "", &candidate);
        }

        let (line, what) = match other {
            Some(other) => {
                let keys = NameList::and(other.keys());
                (other.line, format!("the object has the keys {keys}"))
            }
            None => (1, "the reply has no JSON object".to_owned()),
        };
        let message = format!("{what}; expected {}", self.expected());
        Err(AnswerProblem::new(Kind::NoValue, line, message))
    }
}

/// Returns a value that is the whole reply, or that follows "Answer:", and its line.
fn bare_answer(text: &str) -> Option<(&str, usize)> {
    let answer = match cogwork_llm::split_thinking(text) {
        Some(split) if split.is_opened => split.answer,
        _ => text,
    };
    let whole = answer.trim();
    let is_one_line = !whole.contains('\n') && whole.len() < 200;
    let said = stated_answer(answer).or_else(|| is_one_line.then_some(whole))?;
    let said = said.trim().trim_matches(['`', '*', '"', '\'']).trim();
    let said = said.strip_suffix('.').unwrap_or(said);

    let before = said.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let line = text.get(..before)?.matches('\n').count() + 1;
    Some((said, line))
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
    let mut tree = tree;
    for part in pointer.split('/').skip(1) {
        let inner = match &tree.node {
            Node::List(items) => part
                .parse::<usize>()
                .ok()
                .and_then(|place| items.get(place)),
            Node::Object(entries) => entries
                .iter()
                .find(|(key, _)| key == part)
                .map(|(_, tree)| tree),
            _ => None,
        };
        match inner {
            Some(inner) => tree = inner,
            None => break,
        }
    }
    tree.line
}

/// The name of a type in requests: at most 64 letters, digits, `_` and `-`.
pub(crate) fn schema_name<T: JsonSchema>() -> String {
    let name = T::schema_name();
    let name: String = name
        .chars()
        .map(|character| {
            if character.is_ascii_alphanumeric() {
                character
            } else {
                '_'
            }
        })
        .take(64)
        .collect();

    if name.is_empty() {
        ANSWER.to_owned()
    } else {
        name
    }
}
