//! What was recorded of a run before it was resumed.

use cogwork_flow::engine::{Journal as _, Moment};
use cogwork_flow::watch::{Event, EventKind};
use cogwork_journal::{ForkOrigin, RunJournal, Store};
use serde::Deserialize;
use serde_json::Value;

use super::chat;
use super::numbers::CallNumbers;
use crate::LeftOut;

#[derive(Debug, Default)]
pub(super) struct Earlier {
    /// The id of the run, once it is known.
    pub(super) run: Option<String>,
    pub(super) forked_from: Option<ForkOrigin>,
    pub(super) left_out: Option<LeftOut>,
    /// The numbers that are on record, and those that were given since.
    pub(super) numbers: CallNumbers,
    /// The number of the step of the last event, outside of items and branches. The events of all steps
    /// before it are on record.
    last_step: u64,
}

impl Earlier {
    pub(super) async fn of(journal: &RunJournal) -> Self {
        let (store, run_id) = (journal.store(), journal.run_id());
        let mut earlier = Self {
            run: Some(run_id.to_owned()),
            forked_from: journal.fork_origin().cloned(),
            ..Self::default()
        };
        earlier.read(&store, run_id).await;

        // A fork has no events of its own before its first step.
        if let Some(origin) = journal.fork_origin() {
            let mut before = Self::default();
            before.read(&store, &origin.run_id).await;
            earlier.left_out = earlier.left_out.max(before.left_out);
        }
        earlier
    }

    /// Reads the events of a run, as far as they can be read.
    async fn read(&mut self, store: &Store, run_id: &str) {
        let mut position = 0;
        while let Ok(events) = store.events(run_id, position).await
            && let Some(last) = events.last()
        {
            position = last.next;
            for event in &events {
                self.add(&event.json);
            }
        }
    }

    /// Returns whether an event is on record already, and only repeated by a replay.
    pub(super) fn has(&self, event: &Event) -> bool {
        let Some(step) = &event.step else {
            return false;
        };
        let is_failure = matches!(event.kind, EventKind::Failed { .. });
        !is_failure && Moment::outermost_number(&step.to_string()) < self.last_step
    }

    fn add(&mut self, json: &str) {
        // A crash may have left an incomplete one.
        let Ok(event) = serde_json::from_str::<Recorded>(json) else {
            return;
        };

        self.left_out = self.left_out.max(event.left_out);
        if let Some(step) = event.step {
            // Not the highest one, because a run that failed in a replay is behind.
            self.last_step = Moment::outermost_number(&step);
        }
        if event.source.as_deref() == Some(chat::SOURCE) {
            self.add_chat(event.report);
        }
    }

    fn add_chat(&mut self, report: Value) {
        let numbers = &mut self.numbers;
        let number = |name| report.get(name).and_then(Value::as_u64);
        let (id, call) = (number("id"), number("call"));

        match (report.get("type").and_then(Value::as_str), id, call) {
            (Some("chat" | "chat_failed"), _, Some(call)) => numbers.calls.skip(call),
            (Some("message"), Some(id), _) => numbers.messages.add(without_id(report), id),
            (Some("tools"), Some(id), _) => numbers.tools.add(without_id(report), id),
            _ => {}
        }
    }
}

/// What is used of an event.
#[derive(Deserialize)]
struct Recorded {
    step: Option<String>,
    source: Option<String>,
    #[serde(default)]
    report: Value,
    left_out: Option<LeftOut>,
}

fn without_id(mut report: Value) -> String {
    if let Value::Object(fields) = &mut report {
        fields.remove("id");
    }
    report.to_string()
}
