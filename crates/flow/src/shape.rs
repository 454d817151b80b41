use std::collections::HashMap;

use cogwork_text::Escaped;
use serde::{Deserialize, Serialize};

use crate::wiring::{Inside, Place, Target, Wiring};

/// What makes a flow the same flow to a run on record: its nodes and what kind of place each is, its
/// edges, and the flows inside it. Not the order in which they were added, nor how many items run
/// at a time.
///
/// A journal keeps the shape of the flow its run began with, and a run is taken up again only where
/// nothing [differs](Shape::difference).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(Vec<String>);

impl Shape {
    pub(crate) fn of(wiring: &Wiring) -> Self {
        let mut lines = Vec::new();
        describe(wiring, 0, &mut lines);
        Self(lines)
    }

    /// The events that nodes wait for.
    pub fn events(&self) -> Vec<&str> {
        let waits = self.0.iter().filter(|line| line.starts_with("the wait `"));
        let events = waits.filter_map(|line| {
            let (_, event) = line.split_once("` for the event `")?;
            let end = event
                .rfind("` in the flow ")
                .unwrap_or(event.len().saturating_sub(1));
            event.get(..end)
        });

        events.collect()
    }

    /// What this flow has that `recorded` has not and the other way round, in one line; `None` where
    /// they are the same.
    pub fn difference(&self, recorded: &Self) -> Option<String> {
        if self == recorded {
            return None;
        }

        let new = only_in(&self.0, &recorded.0);
        let gone = only_in(&recorded.0, &self.0);
        let mut parts = Vec::new();
        if !gone.is_empty() {
            parts.push(format!("gone: {}", first_of(&gone)));
        }

        if !new.is_empty() {
            parts.push(format!("new: {}", first_of(&new)));
        }

        if parts.is_empty() {
            parts.push("flows inside it have changed places".to_owned());
        }

        Some(parts.join("; "))
    }
}

fn describe(wiring: &Wiring, depth: usize, lines: &mut Vec<String>) {
    let flow = if depth == 0 {
        String::new()
    } else {
        format!(" in the flow {depth} down, `{}`", wiring.name)
    };

    let start = &wiring.place(wiring.start).name;
    lines.push(format!("the start `{start}`{flow}"));
    let mut places: Vec<&Place> = wiring.places.iter().collect();
    places.sort_unstable_by_key(|place| &place.name);

    for place in places {
        let name = &place.name;
        let kind = match &place.inside {
            Inside::Node => "node",
            Inside::Wait { .. } => "wait",
            Inside::Sleep => "sleep",
            Inside::Batch { .. } => "batch",
            Inside::Subflow(_) => "subflow",
            Inside::Each { .. } => "flow over items",
            Inside::Branches(_) => "branches",
        };

        let event = match &place.inside {
            Inside::Wait { event } => format!(" for the event `{event}`"),
            _ => String::new(),
        };
        lines.push(format!("the {kind} `{name}`{event}{flow}"));
        let mut exits: Vec<_> = place.exits.iter().collect();
        exits.sort_unstable_by_key(|exit| &exit.action);

        for exit in exits {
            let to = match exit.target {
                Target::Node(index) => format!("to `{}`", wiring.place(index).name),
                Target::End => "to the end".to_owned(),
            };
            lines.push(format!(
                "the edge from `{name}` on `{}` {to}{flow}",
                exit.action.as_str()
            ));
        }

        match &place.inside {
            Inside::Subflow(inner) | Inside::Each { flow: inner, .. } => {
                describe(inner, depth + 1, lines)
            }
            Inside::Branches(branches) => {
                for (branch, inner) in branches {
                    lines.push(format!("the branch `{branch}` of `{name}`{flow}"));
                    describe(inner, depth + 1, lines);
                }
            }
            Inside::Node | Inside::Wait { .. } | Inside::Sleep | Inside::Batch { .. } => {}
        }
    }
}

/// The lines of one list that the other has not, or not as often.
fn only_in<'a>(these: &'a [String], those: &[String]) -> Vec<&'a String> {
    let mut left: HashMap<&String, usize> = HashMap::new();
    for line in those {
        *left.entry(line).or_default() += 1;
    }

    let unmatched = |line: &&String| match left.get_mut(*line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };

    these.iter().filter(unmatched).collect()
}

fn first_of(lines: &[&String]) -> String {
    let short = |line: &&String| Escaped::new(line).with_max_chars(LONGEST).to_string();
    let listed: Vec<String> = lines.iter().take(LISTED).map(short).collect();
    match lines.len().saturating_sub(LISTED) {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

const LISTED: usize = 5;

/// How much of a line is shown, in characters: a record's own lines may be of any length.
const LONGEST: usize = 300;
