//! Reads the parts of a tree, and reports what is wrong with them.

use std::collections::HashSet;

use cogwork_text::{Name, NameList};

use super::problem::{Problems, TableProblem};
use super::tree::Tree;

/// The maximum length of a name, in bytes.
pub(super) const MAX_NAME: usize = 64;

/// The message about a missing description.
pub(super) const NO_DESCRIPTION: &str = "it has no `description`; expected a text";

/// Returns the message about a text that can't be a name.
pub(super) fn invalid_name(name: &str) -> String {
    let name = Name(name);
    format!("`{name}` is not a valid name; expected 1 to 64 letters, digits, `_` and `-`")
}

/// The position in the tables.
#[derive(Clone, Copy, Default)]
pub(super) struct Place<'a> {
    pub(super) strategy: Option<&'a str>,
    pub(super) stage: Option<&'a str>,
    pub(super) parameter: Option<&'a str>,
}

impl<'a> Place<'a> {
    pub(super) fn parts(&self) -> Vec<&'a str> {
        [self.strategy, self.stage, self.parameter]
            .into_iter()
            .flatten()
            .collect()
    }
}

pub(super) struct Reader {
    pub(super) problems: Problems,
}

impl Reader {
    pub(super) fn report(&mut self, place: &Place<'_>, message: impl Into<String>) {
        if self.problems.is_full() {
            return self.problems.count();
        }

        let problem = TableProblem::new(&place.parts(), message.into());
        self.problems.push(problem);
    }

    pub(super) fn wrong(
        &mut self,
        place: &Place<'_>,
        key: &str,
        found: &Tree,
        expected: &'static str,
    ) {
        let found = match found {
            Tree::Number(number) => number.to_string(),
            Tree::Text(text) => format!("the text \"{text}\""),
            other => other.kind().to_owned(),
        };

        let [key, found] = [Name(key), Name(&found)];
        self.report(place, format!("`{key}` is {found}; expected {expected}"));
    }

    /// Returns the entries of a mapping, and reports duplicate keys.
    pub(super) fn entries(
        &mut self,
        place: &Place<'_>,
        key: &str,
        tree: Tree,
    ) -> Vec<(String, Tree)> {
        let Tree::Map(entries) = tree else {
            self.wrong(place, key, &tree, "a mapping");
            return Vec::new();
        };

        let mut seen = HashSet::new();
        let twice: HashSet<usize> = (0..)
            .zip(&entries)
            .filter_map(|(index, (key, _))| (!seen.insert(key.clone())).then_some(index))
            .collect();
        let mut kept = Vec::with_capacity(entries.len());

        for (index, entry) in entries.into_iter().enumerate() {
            if twice.contains(&index) {
                let message = format!("`{}` is defined twice", Name(&entry.0));
                self.report(place, message);
            } else {
                kept.push(entry);
            }
        }

        kept
    }

    /// Returns the values of the `known` keys, and reports all other keys.
    pub(super) fn keys<const N: usize>(
        &mut self,
        place: &Place<'_>,
        key: &str,
        tree: Tree,
        known: [&'static str; N],
    ) -> [Option<Tree>; N] {
        let mut values = [const { None }; N];
        for (key, tree) in self.entries(place, key, tree) {
            let slot = known
                .iter()
                .position(|known| *known == key)
                .and_then(|index| values.get_mut(index));
            match slot {
                Some(slot) => *slot = Some(tree),
                None => {
                    let [key, known] = [Name(&key).to_string(), NameList::or(&known).to_string()];
                    self.report(
                        place,
                        format!("`{key}` is not a key here; expected {known}"),
                    );
                }
            }
        }

        values
    }

    pub(super) fn check_name(&mut self, place: &Place<'_>, name: &str) {
        let fits = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(fits) {
            self.report(place, invalid_name(name));
        }
    }

    pub(super) fn text(
        &mut self,
        place: &Place<'_>,
        key: &str,
        tree: Option<Tree>,
        missing: &str,
    ) -> String {
        match tree {
            Some(Tree::Text(text)) if !text.trim().is_empty() => return text,
            None | Some(Tree::Null | Tree::Text(_)) => self.report(place, missing),
            Some(other) => self.wrong(place, key, &other, "a text"),
        }

        String::new()
    }

    pub(super) fn truth(
        &mut self,
        place: &Place<'_>,
        key: &str,
        tree: Option<Tree>,
        default: bool,
    ) -> bool {
        match tree {
            None => default,
            Some(Tree::Bool(value)) => value,
            Some(other) => {
                self.wrong(place, key, &other, "true or false");
                default
            }
        }
    }

    pub(super) fn names(
        &mut self,
        place: &Place<'_>,
        key: &str,
        tree: Option<Tree>,
    ) -> Vec<String> {
        let list = match tree {
            None | Some(Tree::Null) => return Vec::new(),
            Some(Tree::List(list)) => list,
            Some(other) => {
                self.wrong(place, key, &other, "a list of texts");
                return Vec::new();
            }
        };

        let mut names = Vec::with_capacity(list.len());
        for item in list {
            match item {
                Tree::Text(name) => names.push(name),
                other => self.wrong(place, key, &other, "a list of texts"),
            }
        }

        names
    }
}
