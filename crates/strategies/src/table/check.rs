//! Checks the names of a table, and its stages as a graph.

use std::collections::{HashMap, HashSet};

use cogwork_text::{Name, NameList};

use super::{Problems, TableProblem, is_name, not_a_name};
use crate::strategy::Table;
use crate::{ParameterType, Stage};

/// Stages by the names of others.
type Edges<'t> = HashMap<&'t str, Vec<&'t str>>;

/// Reports the problems of a table. `unread` are the stages that couldn't be read.
pub(super) fn check(table: &Table, unread: &[String], problems: &mut Problems) {
    let place = TableProblem::of(&table.name);
    let stages = table.stages.iter().map(|stage| &stage.name);
    let names: Vec<&String> = stages.chain(unread).collect();
    let known: HashSet<&str> = names.iter().map(|name| name.as_str()).collect();

    for name in [&table.name].into_iter().chain(&table.aliases) {
        check_name(name, &place, problems);
    }
    if table.description.trim().is_empty() {
        problems.push(&place, "it has no `description`; expected a text");
    }

    if names.is_empty() {
        return problems.push(&place, "it has no `stages`; expected at least one");
    }

    let no_stage = |name: &str| {
        let stages = NameList::or(&names);
        format!("`{}` is not a stage; expected {stages}", Name(name))
    };
    if !known.contains(table.start.as_str()) && unread.is_empty() {
        let place = place.clone().at_key("start");
        problems.push(&place, no_stage(&table.start));
    }

    for stage in &table.stages {
        let place = place.clone().at_stage(&stage.name);
        check_stage(stage, &place, problems);

        let mut seen = HashSet::new();
        for next in &stage.next {
            let place = place.clone().at_key("next");
            if !known.contains(next.as_str()) {
                problems.push(&place, no_stage(next));
            } else if !seen.insert(next) {
                let next = Name(next);
                problems.push(&place, format!("`{next}` is there twice; expected once"));
            }
        }
    }

    // The edges of a stage that couldn't be read are unknown.
    if unread.is_empty() {
        check_ways(table, &place, problems);
    }
}

fn check_stage(stage: &Stage, place: &TableProblem, problems: &mut Problems) {
    check_name(&stage.name, place, problems);
    let texts = [
        ("description", &stage.description),
        ("prompt", &stage.prompt),
    ];
    for (key, _) in texts.iter().filter(|(_, text)| text.trim().is_empty()) {
        problems.push(place, format!("it has no `{key}`; expected a text"));
    }

    if stage.is_final && !stage.next.is_empty() {
        problems.push(
            place,
            "it has both `final` and `next`; expected one of them",
        );
    }

    for (name, parameter) in &stage.parameters {
        if has_empty_range(parameter.kind()) {
            let place = place.clone().at_key(&format!("parameters.{name}"));
            problems.push(
                &place,
                "`min` is greater than `max`; expected a smaller one",
            );
        }
    }
}

fn check_name(name: &str, place: &TableProblem, problems: &mut Problems) {
    if !is_name(name) {
        problems.push(place, not_a_name(name));
    }
}

fn has_empty_range(kind: &ParameterType) -> bool {
    match kind {
        ParameterType::Integer { min, max } | ParameterType::Number { min, max } => {
            min.zip(*max).is_some_and(|(min, max)| min > max)
        }
        ParameterType::List { items: inner, .. } | ParameterType::Map { values: inner } => {
            has_empty_range(inner)
        }
        ParameterType::Object { fields } => {
            fields.values().any(|field| has_empty_range(field.kind()))
        }
        _ => false,
    }
}

/// Checks that the start leads to every stage, and every stage to a final one.
fn check_ways(table: &Table, place: &TableProblem, problems: &mut Problems) {
    let mut forwards = Edges::new();
    let mut backwards = Edges::new();
    for stage in &table.stages {
        for next in &stage.next {
            forwards.entry(&stage.name).or_default().push(next);
            backwards.entry(next).or_default().push(&stage.name);
        }
    }

    let finals = table.stages.iter().filter(|stage| stage.is_final);
    let finals: Vec<&str> = finals.map(Stage::name).collect();
    if finals.is_empty() {
        let message = "no stage is final; expected `final: true` in at least one";
        problems.push(place, message);
    }

    let reached = reached(vec![&table.start], &forwards);
    let has_end = !finals.is_empty();
    let ending = self::reached(finals, &backwards);
    for stage in &table.stages {
        let place = place.clone().at_stage(&stage.name);
        if !reached.contains(stage.name()) {
            problems.push(&place, "it cannot be reached from the start");
        }
        if has_end && !ending.contains(stage.name()) {
            problems.push(&place, "it does not lead to a final stage");
        }
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
