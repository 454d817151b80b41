//! An answer that is delivered.

use cogwork_flow::engine::Json;
use cogwork_text::{Name, NameList};
use serde::Serialize;

use crate::{StoreError, StoreErrorKind};

/// An answer to an event.
pub(crate) struct Delivery {
    pub(crate) event: String,
    pub(crate) answer: Json,
    pub(crate) to: To,
}

/// Who may use an answer.
pub(crate) enum To {
    /// Any step that waits for the event, now or later.
    Anyone,
    /// A step that waits for the event now and has no answer yet: this one, if one is given.
    Waiting(Option<String>),
}

impl Delivery {
    /// # Errors
    ///
    /// Returns an error if the answer cannot be written as JSON.
    pub(crate) fn of(event: &str, answer: &impl Serialize, to: To) -> Result<Self, StoreError> {
        let answer = Json::of(answer).map_err(|error| {
            let (event, detail) = (Name(event), error.detail());
            let text = format_args!("the answer to `{event}` cannot be written as JSON: {detail}");
            StoreError::new(StoreErrorKind::Value, text)
        })?;
        Ok(Self {
            event: event.to_owned(),
            answer,
            to,
        })
    }

    /// Returns whether this is the answer to a wait, which is a step and its event.
    pub(crate) fn is_to(&self, step: &str, event: &str) -> bool {
        let is_step = match &self.to {
            To::Waiting(Some(wanted)) => step == wanted,
            _ => true,
        };
        is_step && event == self.event
    }

    /// Checks that the answer has its step among those that wait without one, each with its event.
    pub(crate) fn check_waits(
        &self,
        run_id: &str,
        waits: &[(String, String)],
    ) -> Result<(), StoreError> {
        let To::Waiting(step) = &self.to else {
            return Ok(());
        };

        let (run_id, event) = (Name(run_id), Name(&self.event));
        let asking = waits.iter().filter(|(_, event)| *event == self.event);
        let asking: Vec<_> = asking.map(|(step, _)| step).collect();
        if !waits.iter().any(|(step, event)| self.is_to(step, event)) {
            let mut others: Vec<_> = waits.iter().map(|(_, event)| event).collect();
            others.sort();
            others.dedup();
            let text = match step {
                Some(step) if !asking.is_empty() => format!(
                    "the step `{}` of the run `{run_id}` doesn't wait for `{event}`, but {} does",
                    Name(step),
                    NameList::and(&asking)
                ),
                _ => format!(
                    "the run `{run_id}` doesn't wait for `{event}`, or has the answer; it waits for {}",
                    NameList::and(&others)
                ),
            };
            return Err(StoreError::new(StoreErrorKind::NotWaiting, text));
        }

        // Whichever of the steps comes first takes the answer.
        let count = asking.len();
        if step.is_some() && count > 1 {
            let text = format_args!(
                "{count} steps wait for `{event}`, and any of them would take the answer; \
                 give each wait a key of its own"
            );
            return Err(StoreError::new(StoreErrorKind::RefusedAnswer, text));
        }
        Ok(())
    }
}
