//! Which messages a run has received.

use std::collections::HashMap;

use super::Origin;

/// The origins of the messages that may be sent again.
///
/// A run sends a message again only if it was interrupted during the step that sends it. The
/// numbers of its steps never decrease, so the messages of its earlier steps can be forgotten.
#[derive(Default)]
pub(super) struct Senders(HashMap<String, Latest>);

/// The messages of the last step of a run.
#[derive(Default)]
struct Latest {
    number: u64,
    /// The steps that sent a message, with the numbers of the lines that record it.
    lines: HashMap<String, u64>,
}

impl Senders {
    /// Returns the number of the line that must be written before a message counts as received;
    /// `None` if the message wasn't received.
    pub(super) fn line_of(&self, from: &Origin) -> Option<u64> {
        let latest = self.0.get(&from.run)?;
        if from.number < latest.number {
            return Some(0);
        }
        if from.number > latest.number {
            return None;
        }

        latest.lines.get(&from.step).copied()
    }

    pub(super) fn add(&mut self, from: &Origin, line: u64) {
        let latest = self.0.entry(from.run.clone()).or_default();
        if from.number > latest.number {
            *latest = Latest {
                number: from.number,
                ..Latest::default()
            };
        }

        if from.number == latest.number {
            latest.lines.insert(from.step.clone(), line);
        }
    }

    /// Returns the origins, for a snapshot.
    pub(super) fn origins(&self) -> Vec<Origin> {
        let origins = self.0.iter().flat_map(|(run, latest)| {
            latest.lines.keys().map(|step| Origin {
                run: run.clone(),
                step: step.clone(),
                number: latest.number,
            })
        });

        origins.collect()
    }
}
