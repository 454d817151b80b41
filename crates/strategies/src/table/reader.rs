//! Reads the parts of a tree, and reports what is wrong with them.

use std::collections::HashSet;

use cogwork_read::charge;

use super::locate::Locator;
use super::problem::{Problems, TableProblem, TableProblemKind as Kind};
use super::tree::Tree;

/// The maximum length of a name, in bytes.
pub(super) const MAX_NAME: usize = 64;

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

    /// Returns the keys that lead to this place in the text.
    pub(super) fn keys(&self) -> Vec<&'a str> {
        let mut keys: Vec<&str> = self.strategy.into_iter().collect();
        keys.extend(self.stage.into_iter().flat_map(|stage| ["stages", stage]));

        // A parameter may have a path inside it, as in `approaches[].promise`.
        let parameter = self
            .parameter
            .into_iter()
            .flat_map(|place| place.split(['.', '[', ']']));
        keys.extend(self.parameter.map(|_| "parameters"));
        keys.extend(parameter.filter(|part| !part.is_empty()));

        keys
    }
}

pub(super) struct Reader<'t> {
    pub(super) locator: Locator<'t>,
    pub(super) problems: Problems,
}

impl Reader<'_> {
    pub(super) fn report(&mut self, place: &Place<'_>, kind: Kind) {
        if self.problems.is_full() {
            return self.problems.count();
        }

        let keys = place.keys();
        charge(keys.iter().map(|key| key.len()).sum());

        fn and<'k>(keys: &[&'k str], key: &'k str) -> Vec<&'k str> {
            [keys, &[key]].concat()
        }

        let line = match &kind {
            Kind::Duplicate(key) => self.locator.line(&and(&keys, key), 1),
            Kind::UnknownKey { key, .. } | Kind::WrongValue { key, .. } => {
                self.locator.line(&and(&keys, key), 0)
            }
            Kind::UndefinedTarget { target: word, .. } | Kind::RepeatedTarget(word) => {
                self.locator.word(&and(&keys, "next"), word)
            }
            Kind::UndefinedStart { start: word, .. } => {
                self.locator.word(&and(&keys, "start"), word)
            }
            _ => self.locator.line(&keys, 0),
        };

        self.problems.push(TableProblem {
            line,
            ..TableProblem::new(&place.parts(), kind)
        });
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
        self.report(
            place,
            Kind::WrongValue {
                key: key.to_owned(),
                found,
                expected,
            },
        );
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

        charge(entries.iter().map(|(key, _)| 1 + key.len()).sum());
        let mut seen = HashSet::new();
        let twice: HashSet<usize> = (0..)
            .zip(&entries)
            .filter_map(|(index, (key, _))| (!seen.insert(key.clone())).then_some(index))
            .collect();
        let mut kept = Vec::with_capacity(entries.len());

        for (index, entry) in entries.into_iter().enumerate() {
            if twice.contains(&index) {
                self.report(place, Kind::Duplicate(entry.0));
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
                None => self.report(
                    place,
                    Kind::UnknownKey {
                        key,
                        known: known.to_vec(),
                    },
                ),
            }
        }

        values
    }

    pub(super) fn check_name(&mut self, place: &Place<'_>, name: &str) {
        let fits = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(fits) {
            self.report(place, Kind::Name(name.to_owned()));
        }
    }

    pub(super) fn text(
        &mut self,
        place: &Place<'_>,
        key: &str,
        tree: Option<Tree>,
        missing: Kind,
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
