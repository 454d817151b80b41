//! The waits of a new run, whose record may begin with steps that wait.

use std::collections::BTreeMap;

use super::column::for_column;
use crate::WaitSummary;
use crate::query::millis;
use crate::rows::count;
use crate::waits::WaitChange;

/// The rows of the waits of a new run, by column.
#[derive(Default)]
pub(super) struct NewWaits {
    pub(super) numbers: Vec<i64>,
    pub(super) steps: Vec<String>,
    pub(super) events: Vec<String>,
    pub(super) reasons: Vec<String>,
    pub(super) until: Vec<Option<i64>>,
}

impl NewWaits {
    pub(super) fn after(changes: &[WaitChange]) -> Self {
        let mut waiting: BTreeMap<u64, WaitSummary> = BTreeMap::new();
        for change in changes {
            match change {
                WaitChange::Began(number, wait) => drop(waiting.insert(*number, wait.clone())),
                WaitChange::Shortened(number, until) => {
                    if let Some(wait) = waiting.get_mut(number) {
                        wait.until = *until;
                    }
                }
                WaitChange::Ended(number) => drop(waiting.remove(number)),
                WaitChange::AllEnded => waiting.clear(),
            }
        }

        let mut rows = Self::default();
        for (number, wait) in waiting {
            rows.numbers.push(count(number));
            rows.steps.push(for_column(&wait.step));
            rows.events.push(for_column(&wait.event));
            rows.reasons.push(for_column(&wait.why));
            rows.until.push(wait.until.map(millis));
        }

        rows
    }
}
