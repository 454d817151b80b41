//! Builds strategies from the tree of a text, and collects all problems.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cogwork_text::{Name, NameList};

use super::graph::{Direction, reached};
use super::problem::{Problems, TableError};
use super::reader::{NO_DESCRIPTION, Place, Reader};
use super::tree::Tree;
use crate::strategy::Table;
use crate::{Stage, Strategy};

pub(super) fn strategies(tree: Tree) -> Result<Vec<Strategy>, TableError> {
    if !matches!(tree, Tree::Map(_)) {
        let message = format!("{}; expected strategies by their names", tree.kind());
        return Err(TableError::syntax(&message, Some(1)));
    }

    let mut reader = Reader {
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
            reader.report(&place, name_taken(name));
        }

        taken.extend(strategy.names().map(str::to_owned));
        strategies.push(strategy);
    }

    reader.problems.into_result()?;
    Ok(strategies)
}

/// Returns the message about a name that another strategy has.
pub(crate) fn name_taken(name: &str) -> String {
    let name = Name(name);
    format!("`{name}` is the name of a different strategy; choose another name")
}

impl Reader {
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

        let description = self.text(place, "description", description, NO_DESCRIPTION);
        let aliases = self.names(place, "aliases", aliases);
        for alias in &aliases {
            self.check_name(place, alias);
        }

        let mut stages = self.stages(place, stages);
        if stages.is_empty() {
            self.report(place, "it has no `stages`; expected at least one");
            return None;
        }

        let names: Vec<String> = stages.iter().map(|stage| stage.name.clone()).collect();
        let by_name: HashMap<String, usize> = names.iter().cloned().zip(0..).collect();
        self.join(place, &mut stages, &by_name, &names);
        let start = self.start(place, start, &by_name, names)?;

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

    fn stages(&mut self, place: &Place<'_>, tree: Option<Tree>) -> Vec<Stage> {
        let entries = tree.map(|tree| self.entries(place, "stages", tree));
        let mut stages: Vec<Stage> = Vec::new();

        for (name, tree) in entries.unwrap_or_default() {
            let place = Place {
                stage: Some(&name),
                ..*place
            };
            self.check_name(&place, &name);
            let stage = self.stage(&place, stages.len(), &name, tree);
            stages.push(stage);
        }

        stages
    }

    /// Returns the index of the start stage, which is the first one by default.
    fn start(
        &mut self,
        place: &Place<'_>,
        tree: Option<Tree>,
        by_name: &HashMap<String, usize>,
        stages: Vec<String>,
    ) -> Option<usize> {
        let start = match tree {
            None => return Some(0),
            Some(Tree::Text(start)) => start,
            Some(other) => {
                self.wrong(place, "start", &other, "the name of a stage");
                return None;
            }
        };

        let index = by_name.get(&start).copied();
        if index.is_none() {
            let message = format!(
                "`start` names `{}`, which is not a stage; expected {}",
                Name(&start),
                NameList::or(&stages)
            );
            self.report(place, message);
        }
        index
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
                match by_name.get(target) {
                    Some(index) if seen.insert(*index) => stage.next.push(*index),
                    Some(_) => {
                        let target = Name(target);
                        let message = format!("`next` names `{target}` twice; expected once");
                        self.report(&place, message);
                    }
                    // Each of these messages contains the names of the stages.
                    None if self.problems.is_full() => self.problems.count(),
                    None => {
                        let message = format!(
                            "`next` names `{}`, which is not a stage; expected {}",
                            Name(target),
                            NameList::or(names)
                        );
                        self.report(&place, message);
                    }
                }
            }

            if stage.is_final && !stage.next_names.is_empty() {
                let message = "it has both `final` and `next`; expected one of them";
                self.report(&place, message);
            }
        }
    }

    fn check_ways(&mut self, place: &Place<'_>, stages: &[Stage], start: usize) {
        let mut finals = stages
            .iter()
            .filter(|stage| stage.is_final)
            .map(|stage| stage.index)
            .peekable();

        let there = reached(stages, std::iter::once(start), Direction::Forwards);

        // Without a final stage, the problem is reported once rather than for every stage.
        let ends = if finals.peek().is_some() {
            reached(stages, finals, Direction::Backwards)
        } else {
            let message = "no stage is final; expected `final: true` in at least one";
            self.report(place, message);
            vec![true; stages.len()]
        };

        for ((stage, there), ends) in stages.iter().zip(there).zip(ends) {
            let place = Place {
                stage: Some(&stage.name),
                ..*place
            };
            if !there {
                self.report(&place, "it cannot be reached from the start");
            }

            if !ends {
                self.report(&place, "it does not lead to a final stage");
            }
        }
    }

    fn stage(&mut self, place: &Place<'_>, index: usize, name: &str, tree: Tree) -> Stage {
        let known = ["description", "prompt", "next", "final", "parameters"];
        let [description, prompt, next, is_final, parameters] = self.keys(place, name, tree, known);
        Stage {
            index,
            name: name.to_owned(),
            description: self.text(place, "description", description, NO_DESCRIPTION),
            prompt: self.text(
                place,
                "prompt",
                prompt,
                "it has no `prompt`; expected a text",
            ),
            parameters: self.parameters(place, "", "parameters", parameters),
            next: Vec::new(),
            next_names: self.names(place, "next", next),
            is_final: self.truth(place, "final", is_final, false),
        }
    }
}
