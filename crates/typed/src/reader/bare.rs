//! Reads replies that have no object or list of the wanted form.

use cogwork_text::{Name, NameList};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{AnswerReader, ReadAnswer};
use crate::ask::{NoAnswer, RepairKind, no_answer, stated_answer};
use crate::candidates::said;
use crate::problem::{AnswerProblem, AnswerProblemKind as Kind};
use crate::shape::{ANSWER, Property, Shape, THOUGHT};
use crate::syntax::lines::{has_items, items_of};
use crate::syntax::{Notes, Parsed};
use crate::tree::{Node, Tree};

impl<T: JsonSchema + DeserializeOwned> AnswerReader<T> {
    pub(super) fn read_bare(
        &self,
        text: &str,
        found: &[Parsed],
    ) -> Result<ReadAnswer<T>, AnswerProblem> {
        // Words of the refusal might be taken for the answer otherwise.
        if no_answer(text, "") == Some(NoAnswer::Refusal) {
            return Err(self.no_value(Kind::Declined, 1, "the reply declines to answer"));
        }

        let mut others = found.iter().map(|candidate| &candidate.tree).rev();
        let other = others.find(|tree| !tree.entries().is_empty());
        // A word of the text would be a guess if there is an object of something else.
        let value = || self.single_value(text).filter(|_| other.is_none());
        let mut notes = Notes::default();
        if let Some(tree) = self.prose(text, &mut notes).or_else(value) {
            let what = "read an answer that isn't in JSON";
            notes.repair(RepairKind::Form, tree.line, what);
            return self.read_value(&tree, "", &notes);
        }

        if let Some(list) = self.only_list(found) {
            return self.read_candidate(&list);
        }
        if let Some(other) = other {
            let keys = NameList::and(other.entries().iter().map(|(key, _)| key.as_str()));
            let what = format!("the object has the keys {keys}");
            return Err(self.no_value(Kind::NoValue, other.line, &what));
        }
        if !self.settings.takes_lines {
            let what = found
                .last()
                .map(|other| format!("found {}", other.tree.found()));
            let what = what.unwrap_or_else(|| "the reply has no JSON object".to_owned());
            return Err(self.no_value(Kind::NoValue, 1, &what));
        }
        // A text without keys is a thought.
        let (said, line) = said(text);
        let thought = object(line, [(THOUGHT, Node::Text(said.to_owned()))]);
        self.read_value(&thought, "", &Notes::default())
    }

    /// Returns the list in the only object of a reply, whose only key is a name that the model gave it.
    fn only_list(&self, found: &[Parsed]) -> Option<Parsed> {
        let [only] = found else {
            return None;
        };
        let [(key, list)] = only.tree.entries() else {
            return None;
        };
        // Lines such as `Sources:` before a list are prose.
        if only.is_yaml || list.items().is_empty() || !self.form.words.is_list {
            return None;
        }

        let mut found = only.clone();
        let what = format!("read the key `{}` as `{ANSWER}`", Name(key));
        found.notes.repair(RepairKind::Key, list.line, what);
        found.tree = list.clone();
        Some(found)
    }

    /// Returns the answer of a reply that has no keys: the one that the text states, or all of the
    /// text.
    pub(super) fn prose(&self, text: &str, notes: &mut Notes) -> Option<Tree> {
        if let Some(list) = self.list_in_lines(text, notes) {
            return Some(list);
        }

        let (said, line) = said(text);
        let (only, has_thought) = self.only_key()?;
        let of_text = |text: &str| Node::Text(text.to_owned());

        let is_text = matches!(self.form.resolve(&only.shape), Shape::Text(_));
        // Only with a thought, models reason first and state the answer last.
        if let Some(answer) = stated_answer(said).filter(|_| is_text && has_thought) {
            let entries = [(THOUGHT, of_text(said)), (&only.name, of_text(answer))];
            return Some(object(line, entries));
        }
        if !self.settings.takes_prose || said.is_empty() {
            return None;
        }
        let value = match is_text {
            true => of_text(said),
            false => items_of(said, line, notes),
        };
        Some(object(line, [(only.name.as_str(), value)]))
    }

    /// Returns a list of texts, each in a line with a mark, if that is what is read.
    pub(super) fn list_in_lines(&self, text: &str, notes: &mut Notes) -> Option<Tree> {
        let (said, line) = said(text);
        let Shape::List(items, _) = self.form.resolve(&self.form.root) else {
            return None;
        };

        let is_of_texts = matches!(self.form.resolve(items), Shape::Text(_));
        // Any text has lines.
        let is_list = self.settings.takes_prose && is_of_texts && has_items(said);
        is_list.then(|| Tree::new(line, items_of(said, line, notes)))
    }

    /// Returns the only key of a text or of a list of texts, and whether there is a thought before
    /// it.
    fn only_key(&self) -> Option<(&Property, bool)> {
        let is_thought = |property: &&Property| property.name == THOUGHT;
        let (thoughts, others): (Vec<_>, Vec<_>) =
            self.form.properties().iter().partition(is_thought);
        let (only, has_thought) = match (thoughts.as_slice(), others.as_slice()) {
            ([thought], []) => (*thought, false),
            (thoughts, [only]) if only.is_required => (*only, !thoughts.is_empty()),
            _ => return None,
        };

        let shape = match self.form.resolve(&only.shape) {
            Shape::List(items, _) => items,
            _ => &only.shape,
        };
        let is_text = matches!(self.form.resolve(shape), Shape::Text(_));
        is_text.then_some((only, has_thought))
    }

    /// Returns a number, a truth value or a choice that is the whole reply or that the text states.
    fn single_value(&self, text: &str) -> Option<Tree> {
        let is_single = matches!(
            self.form.resolve(&self.form.root),
            Shape::Choice(_)
                | Shape::Integer(_)
                | Shape::Number { .. }
                | Shape::Boolean
                | Shape::AnyOf(_)
        );
        let (said, line) = said(text);
        // In a longer text, a number or a word is one of several.
        let is_one_line = !said.contains('\n') && said.len() < 200;
        let value = stated_answer(said)
            .or(is_one_line.then_some(said))
            .filter(|_| is_single)?;
        let value = value.trim_matches(|sign: char| sign.is_whitespace() || "`*\"'".contains(sign));
        let value = value.strip_suffix('.').unwrap_or(value);

        let (before, _) = said.rsplit_once(value)?;
        let line = line + before.matches('\n').count();
        Some(Tree::new(line, Node::Plain(value.to_owned())))
    }

    /// Returns the problem of a reply without a value, with what is expected.
    pub(super) fn no_value(&self, kind: Kind, line: usize, what: &str) -> AnswerProblem {
        let properties = self.form.properties().iter();
        let names = properties.map(|property| property.name.as_str());
        let names = names.chain(self.form.is_wrapped().then_some(ANSWER));

        let (expected, colon) = match self.settings.takes_lines {
            true => ("lines", ": …"),
            false => ("a JSON object", ""),
        };
        let names: Vec<String> = names.map(|name| format!("`{name}{colon}`")).collect();
        let with = if names.is_empty() { "" } else { " with " };
        let names = names.join(", ");
        AnswerProblem::new(
            kind,
            line,
            format!("{what}; expected {expected}{with}{names}"),
        )
    }
}

fn object<'k>(line: usize, entries: impl IntoIterator<Item = (&'k str, Node)>) -> Tree {
    let entries = entries.into_iter();
    let entries = entries.map(|(key, node)| (key.to_owned(), Tree::new(line, node)));
    Tree::new(line, Node::Object(entries.collect()))
}
