//! Builds strategies from the tree of a text, and collects all problems.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cogwork_read::charge;

use super::graph::reached;
use super::locate::Locator;
use super::problem::{Problems, TableError, TableProblem, TableProblemKind as Kind};
use super::tree::Tree;
use crate::strategy::Table;
use crate::{Stage, Strategy};

/// The maximum length of a name, in bytes.
pub(super) const MAX_NAME: usize = 64;

pub(super) fn strategies(tree: Tree, locator: Locator<'_>) -> Result<Vec<Strategy>, TableError> {
    if !matches!(tree, Tree::Map(_)) {
        let message = format!("{}; expected strategies by their names", tree.kind());
        return Err(TableError::syntax(message, Some(1)));
    }

    let mut reader = Reader {
        locator,
        problems: Problems::default(),
    };
    let mut strategies: Vec<Strategy> = Vec::new();
    let mut taken: HashSet<String> = HashSet::new();

    for (name, tree) in reader.entries(&Place::default(), "the tables", tree) {
        let place = Place {
            strategy: Some(&name),
            ..Place::default()
        };
        reader.check_name(&place, &name);
        let Some(table) = reader.strategy(&place, &name, tree) else {
            continue;
        };

        let strategy = Strategy(Arc::new(table));
        for name in strategy.names().filter(|name| taken.contains(*name)) {
            reader.report(&place, Kind::NameTaken(name.to_owned()));
        }

        taken.extend(strategy.names().map(str::to_owned));
        strategies.push(strategy);
    }

    reader.problems.into_result()?;
    Ok(strategies)
}

/// The position in the tables.
#[derive(Clone, Copy, Default)]
pub(super) struct Place<'a> {
    pub(super) strategy: Option<&'a str>,
    pub(super) stage: Option<&'a str>,
    pub(super) parameter: Option<&'a str>,
}

impl<'a> Place<'a> {
    fn parts(&self) -> Vec<&'a str> {
        [self.strategy, self.stage, self.parameter]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Returns the keys that lead to this place in the text.
    fn keys(&self) -> Vec<&'a str> {
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
    locator: Locator<'t>,
    problems: Problems,
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

    fn strategy(&mut self, place: &Place<'_>, name: &str, tree: Tree) -> Option<Table> {
        if !matches!(tree, Tree::Map(_)) {
            self.wrong(
                &Place::default(),
                name,
                &tree,
                "a mapping with `description` and `stages`",
            );
            return None;
        }

        let [aliases, description, start, stages] = self.keys(
            place,
            name,
            tree,
            ["aliases", "description", "start", "stages"],
        );

        let description = self.text(place, "description", description, Kind::NoDescription);
        let aliases = self.names(place, "aliases", aliases);
        aliases
            .iter()
            .for_each(|alias| self.check_name(place, alias));

        let entries = stages
            .map(|tree| self.entries(place, "stages", tree))
            .unwrap_or_default();
        let mut stages: Vec<Stage> = Vec::with_capacity(entries.len());
        for (name, tree) in entries {
            let place = Place {
                stage: Some(&name),
                ..*place
            };
            self.check_name(&place, &name);
            let stage = self.stage(&place, stages.len(), &name, tree);
            stages.push(stage);
        }

        if stages.is_empty() {
            self.report(place, Kind::NoStages);
            return None;
        }

        let by_name: HashMap<String, usize> = stages
            .iter()
            .map(|stage| (stage.name.clone(), stage.index))
            .collect();
        let names: Vec<String> = stages.iter().map(|stage| stage.name.clone()).collect();
        self.join(place, &mut stages, &by_name, &names);
        let start = match start {
            None => 0,
            Some(Tree::Text(start)) => match by_name.get(&start) {
                Some(index) => *index,
                None => {
                    self.report(
                        place,
                        Kind::UndefinedStart {
                            start,
                            stages: names,
                        },
                    );
                    return None;
                }
            },
            Some(other) => {
                self.wrong(place, "start", &other, "the name of a stage");
                return None;
            }
        };

        self.check_ways(place, &stages, start);
        Some(Table {
            name: name.to_owned(),
            aliases,
            description,
            start,
            stages,
            by_name,
        })
    }

    /// Resolves the names of the stages that may follow.
    fn join(
        &mut self,
        place: &Place<'_>,
        stages: &mut [Stage],
        by_name: &HashMap<String, usize>,
        names: &[String],
    ) {
        for stage in stages {
            let stage_name = stage.name.clone();
            let place = Place {
                stage: Some(&stage_name),
                ..*place
            };
            let mut seen = HashSet::new();

            for target in &stage.next_names {
                charge(1 + target.len());
                match by_name.get(target) {
                    Some(index) if seen.insert(*index) => stage.next.push(*index),
                    Some(_) => self.report(&place, Kind::RepeatedTarget(target.clone())),
                    // Each of these problems contains a copy of all names.
                    None if self.problems.is_full() => self.problems.count(),
                    None => {
                        charge(names.len());
                        let kind = Kind::UndefinedTarget {
                            target: target.clone(),
                            stages: names.to_vec(),
                        };
                        self.report(&place, kind);
                    }
                }
            }

            if stage.is_final && !stage.next_names.is_empty() {
                self.report(&place, Kind::FinalLeadsOn);
            }
        }
    }

    fn check_ways(&mut self, place: &Place<'_>, stages: &[Stage], start: usize) {
        let mut finals = stages
            .iter()
            .filter(|stage| stage.is_final)
            .map(|stage| stage.index)
            .peekable();

        let there = reached(stages, std::iter::once(start), false);

        // Without a final stage, the problem is reported once rather than for every stage.
        let ends = if finals.peek().is_some() {
            reached(stages, finals, true)
        } else {
            self.report(place, Kind::NoFinalStage);
            vec![true; stages.len()]
        };

        for ((stage, there), ends) in stages.iter().zip(there).zip(ends) {
            let place = Place {
                stage: Some(&stage.name),
                ..*place
            };
            if !there {
                self.report(&place, Kind::Unreachable);
            }

            if !ends {
                self.report(&place, Kind::NoWayToTheEnd);
            }
        }
    }

    fn stage(&mut self, place: &Place<'_>, index: usize, name: &str, tree: Tree) -> Stage {
        let known = ["description", "prompt", "next", "final", "parameters"];
        let [description, prompt, next, is_final, parameters] = self.keys(place, name, tree, known);
        Stage {
            index,
            name: name.to_owned(),
            description: self.text(place, "description", description, Kind::NoDescription),
            prompt: self.text(place, "prompt", prompt, Kind::NoPrompt),
            parameters: self.parameters(place, "", "parameters", parameters),
            next: Vec::new(),
            next_names: self.names(place, "next", next),
            is_final: self.truth(place, "final", is_final, false),
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
