//! Checks tables as graphs.

use std::collections::{HashMap, HashSet};

use cogwork_text::{Name, NameList};

use super::{TableError, is_name, not_a_name};
use crate::Stage;
use crate::strategy::Table;

/// Stages by the names of others.
type Edges<'t> = HashMap<&'t str, Vec<&'t str>>;

/// Adds the problems of a table. The start must lead to every stage, and every stage to a final one.
pub(super) fn check(table: &Table, error: &mut TableError) {
    let place = table.name.as_str();
    if !is_name(place) {
        error.push(place, not_a_name(place));
    }
    // Without stages, each further check would complain once more.
    if table.stages.is_empty() {
        return error.push(place, "it has no `stages`; expected at least one");
    }

    let names: HashSet<&str> = table.stages.iter().map(|stage| &*stage.name).collect();
    let no_stage = |name: &str| {
        let stages = NameList::or(table.stages.iter().map(|stage| stage.name.as_str()));
        format!("`{}` is not a stage; expected {stages}", Name(name))
    };
    if !names.contains(table.start.as_str()) {
        error.push(&format!("{place}.start"), no_stage(&table.start));
    }
    let finals = table.stages.iter().filter(|stage| stage.is_final);
    let finals: Vec<&str> = finals.map(|stage| stage.name.as_str()).collect();
    let is_endless = finals.is_empty();
    let (mut forwards, mut backwards) = (Edges::new(), Edges::new());
    for stage in &table.stages {
        for next in &stage.next {
            forwards.entry(&stage.name).or_default().push(next);
            backwards.entry(next).or_default().push(&stage.name);
        }
    }
    let reached = reached(vec![&table.start], &forwards);
    // Backwards from the ends: a stage leads to an end if it is met on the way.
    let ending = self::reached(finals, &backwards);

    let mut lost: Vec<(String, &str)> = Vec::new();
    for stage in &table.stages {
        let place = format!("{place}.stages.{}", stage.name);
        check_stage(stage, &place, error);

        let mut seen = HashSet::new();
        for next in &stage.next {
            let place = format!("{place}.next");
            if !names.contains(next.as_str()) {
                error.push(&place, no_stage(next));
            } else if !seen.insert(next) {
                let next = Name(next);
                error.push(&place, format!("`{next}` is there twice; expected once"));
            }
        }

        if !reached.contains(stage.name.as_str()) {
            lost.push((place.clone(), "it cannot be reached from the start"));
        }
        // Without an end, no stage leads to one, which is said once.
        if !is_endless && !ending.contains(stage.name.as_str()) {
            lost.push((place, "it does not lead to a final stage"));
        }
    }

    if is_endless {
        let message = "no stage is final; expected `final: true` in at least one";
        error.push(place, message);
    }
    // Last, because a stage is often lost by a misspelt `next`.
    for (place, message) in lost {
        error.push(&place, message);
    }
}

fn check_stage(stage: &Stage, place: &str, error: &mut TableError) {
    if !is_name(&stage.name) {
        error.push(place, not_a_name(&stage.name));
    }
    if stage.is_final && !stage.next.is_empty() {
        let message = "it has both `final` and `next`; expected one of them";
        error.push(place, message);
    }
}

/// Returns the stages that can be reached.
fn reached<'t>(mut open: Vec<&'t str>, edges: &Edges<'t>) -> HashSet<&'t str> {
    let mut seen = HashSet::new();
    while let Some(stage) = open.pop() {
        if seen.insert(stage) {
            open.extend(edges.get(stage).into_iter().flatten());
        }
    }

    seen
}
