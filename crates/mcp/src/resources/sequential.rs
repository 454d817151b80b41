//! Sessions of `sequentialthinking`.

use std::collections::HashMap;

use super::session::{Newest, newest};
use crate::sequential::Thought;
use crate::shown::{Shown, ShownThought};
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
fn thoughts(newest: Newest<Thought>) -> Vec<ShownThought> {
    let mut earlier = Earlier::default();
    let numbers = newest.older.saturating_add(1)..;

    let thoughts = newest.entries.into_iter().zip(numbers);
    thoughts
        .map(|(thought, number)| {
            let shown = show(&thought, number, &earlier);
            earlier.add(&thought, number);
            shown
        })
        .collect()
}

/// The last of the earlier thoughts.
#[derive(Default)]
struct Earlier {
    /// By the number of the model.
    by_number: HashMap<u64, u64>,
    by_branch: HashMap<String, u64>,
    without_branch: Option<u64>,
}

impl Earlier {
    fn add(&mut self, thought: &Thought, number: u64) {
        self.by_number.insert(thought.thought_number, number);
        match thought.branch() {
            Some((branch, _)) => {
                self.by_branch.insert(branch.to_owned(), number);
            }
            None => self.without_branch = Some(number),
        }
    }

    fn numbered(&self, number: u64) -> Option<u64> {
        self.by_number.get(&number).copied()
    }

    /// Returns the thought that another one follows. The first one of a branch follows its origin.
    fn parent_of(&self, thought: &Thought) -> Option<u64> {
        let Some((branch, origin)) = thought.branch() else {
            return self.without_branch;
        };
        let last = self.by_branch.get(branch).copied();
        last.or_else(|| self.numbered(origin))
    }
}

fn show(thought: &Thought, number: u64, earlier: &Earlier) -> ShownThought {
    let thought_number = thought.thought_number;
    let total = thought.total_thoughts;
    let revised = thought.revises_thought;

    ShownThought {
        number,
        label: format!("thought {thought_number} of {total}"),
        branch: thought.branch().map(|(id, _)| id.to_owned()),
        parents: earlier.parent_of(thought).into_iter().collect(),
        revises: revised.and_then(|revised| earlier.numbered(revised)),
        text: thought.thought.clone(),
        ..ShownThought::default()
    }
}
