//! Sessions of `sequentialthinking`.

use std::collections::HashMap;

use super::session::{Newest, newest};
use crate::sequential::Thought;
use crate::shown::{Shown, Step};
use crate::store::{Owner, SessionHeader, SessionStore, StoreError};

pub(super) async fn shown(
    store: &SessionStore,
    owner: &Owner,
    session: &SessionHeader,
) -> Result<Shown, StoreError> {
    let newest = newest(store, owner, session).await?;
    Ok(Shown {
        older: newest.older,
        thoughts: thoughts(newest),
        ..Shown::of(session)
    })
}

/// Returns the thoughts with the numbers in which they were added, because several thoughts can have
/// the same number of the model.
fn thoughts(newest: Newest<Thought>) -> Vec<Step> {
    // The last thoughts with a number of the model, and on a branch or on none.
    let mut numbered = HashMap::new();
    let mut tips = HashMap::new();

    let numbers = newest.older.saturating_add(1)..;
    let thoughts = newest.entries.into_iter().zip(numbers);
    let steps = thoughts.map(|(thought, number)| {
        let branch = thought.branch().map(|(id, _)| id.to_owned());
        // The first one of a branch follows its origin.
        let origin = thought.branch().map(|(_, origin)| origin);
        let origin = origin.and_then(|origin| numbered.get(&origin));
        let parent = tips.get(&branch).or(origin).copied();
        let revised = thought.revises_thought;
        let revised = revised.and_then(|revised| numbered.get(&revised)).copied();

        tips.insert(branch.clone(), number);
        numbered.insert(thought.thought_number, number);
        Step {
            number,
            stage: format!(
                "thought {} of {}",
                thought.thought_number, thought.total_thoughts
            ),
            branch,
            parents: parent.into_iter().collect(),
            revises: revised,
            text: thought.thought,
            ..Step::default()
        }
    });
    steps.collect()
}
