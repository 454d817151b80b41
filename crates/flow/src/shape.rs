use std::collections::HashMap;

use cogwork_text::Escaped;
use serde::{Deserialize, Serialize};

use crate::wiring::{Inside, Place, Target, Wiring};

/// The structure of a flow that a recorded run depends on: its nodes and their kinds, its edges,
/// and the flows inside it. The order in which they were added and the number of concurrent items
/// are not part of it.
///
/// A journal stores the shape of the flow with which its run began. The run is only resumed if
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

    /// Returns the events that nodes wait for.
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

    /// Describes the difference between this shape and `recorded` in one line; `None` if they are
    /// the same.
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

/// Returns the lines of one list that the other doesn't have, or has fewer times.
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

/// The maximum length of a line, in characters: the lines of a record may have any length.
const LONGEST: usize = 300;
