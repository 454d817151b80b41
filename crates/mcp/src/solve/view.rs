use serde_json::Value;

use super::entry::{SolveEntry, SolveThought};
use crate::resources::newest;
use crate::shown::{Shown, ShownThought};
use crate::store::{Owner, SessionHeader, SessionStore, StoreError};

/// Returns what is shown of a run.
pub(crate) async fn shown(
    store: &SessionStore,
    owner: &Owner,
    session: &SessionHeader,
) -> Result<Shown, StoreError> {
    let newest = newest(store, owner, session).await?;
    let shown = Shown {
        older: newest.older,
        ..Shown::of(session)
    };
    Ok(newest.entries.into_iter().fold(shown, with))
}

fn with(mut shown: Shown, entry: SolveEntry) -> Shown {
    match entry {
        SolveEntry::Begun { problem, .. } => shown.problem = Some(problem),
        SolveEntry::Step(step) => shown.thoughts.extend(step.thoughts.into_iter().map(show)),
        SolveEntry::Ended(end) => {
            let outcome = end.outcome.as_str();
            shown.facts.push(("Outcome", outcome.to_owned()));
            shown.facts.push(("Reason", end.reason));
            shown.answer = end.answer;
        }
    }
    shown
}

fn show(thought: SolveThought) -> ShownThought {
    let parameters = thought.parameters.into_iter();
    // Many stages repeat their text in a parameter.
    let parameters = parameters.filter(|(_, value)| value.as_str() != Some(&thought.text));

    ShownThought {
        number: thought.number.into(),
        label: thought.stage,
        strategy: None,
        branch: thought.branch,
        parents: thought.parents.into_iter().map(u64::from).collect(),
        revises: thought.revises.map(u64::from),
        details: parameters
            .map(|(name, value)| (name, plain(value)))
            .collect(),
        text: thought.text,
    }
}

fn plain(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}
