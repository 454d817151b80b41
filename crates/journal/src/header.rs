//! The header of a run, written once, before its first entry.

use std::time::{SystemTime, UNIX_EPOCH};

use cogwork_flow::FlowGraph;
use cogwork_text::{Name, NameList};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::Kind;
use crate::input::difference;
use crate::time::{from_millis, now};
use crate::{ForkOrigin, StoreError};

/// The version of the format.
pub(crate) const FORMAT: u32 = 1;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    /// The first field, which identifies the file.
    pub(crate) cogwork_journal: u32,
    pub(crate) run_id: String,
    pub(crate) flow: String,
    /// Milliseconds since 1970.
    pub(crate) started: u64,
    /// Where the run was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fork: Option<ForkOrigin>,
    pub(crate) input: Box<RawValue>,
    /// The last field, because it is long and only read by programs.
    pub(crate) graph: FlowGraph,
}

impl Header {
    pub(crate) fn new(
        run_id: &str,
        flow: FlowGraph,
        input: &impl Serialize,
    ) -> Result<Self, StoreError> {
        let refused = |problem: &dyn std::fmt::Display| {
            let run_id = Name(run_id);
            let text =
                format!("the input of the run `{run_id}` cannot be written as JSON: {problem}");
            StoreError::new(Kind::Value, text)
        };

        let input = serde_json::value::to_raw_value(input).map_err(|error| refused(&error))?;
        if input.get().contains(['\n', '\r']) {
            return Err(refused(&"it has more than one line"));
        }

        Ok(Self {
            cogwork_journal: FORMAT,
            run_id: run_id.to_owned(),
            flow: flow.name.clone(),
            started: now(),
            fork: None,
            input,
            graph: flow,
        })
    }

    /// Returns the header of a run that begins with a part of this one and has no id yet.
    pub(crate) fn of_fork(self, flow: FlowGraph, origin: ForkOrigin) -> Self {
        Self {
            started: now(),
            fork: Some(origin),
            graph: flow,
            ..self
        }
    }

    pub(crate) fn with_run_id(self, run_id: &str) -> Self {
        Self {
            run_id: run_id.to_owned(),
            ..self
        }
    }

    pub(crate) fn started(&self) -> SystemTime {
        from_millis(self.started).unwrap_or(UNIX_EPOCH)
    }

    /// Checks that a node of the flow waits for this event.
    pub(crate) fn check_event(&self, place: &str, event: &str) -> Result<(), StoreError> {
        let events = self.graph.events();
        if events.contains(event) {
            return Ok(());
        }

        let known = NameList::and(&events);
        let flow = Name(&self.flow);
        let event = Name(event);
        let text = format_args!(
            "{place}: no node of the flow `{flow}` waits for the event `{event}`; it waits for {known}"
        );

        Err(StoreError::new(Kind::UnknownEvent, text))
    }

    /// Checks that the run belongs to this flow.
    pub(crate) fn check_name(&self, place: &str, flow: &FlowGraph) -> Result<(), StoreError> {
        if self.flow == flow.name {
            return Ok(());
        }

        let run_id = Name(&self.run_id);
        let recorded = Name(&self.flow);
        let other = Name(&flow.name);
        Err(StoreError::new(
            Kind::AnotherFlow,
            format_args!(
                "{place}: the run `{run_id}` belongs to the flow `{recorded}`, not to `{other}`"
            ),
        ))
    }

    /// Checks that the run was started with this input.
    pub(crate) fn check_input(&self, place: &str, input: &RawValue) -> Result<(), StoreError> {
        let Some(difference) = difference(self.input.get(), input.get()) else {
            return Ok(());
        };

        let run_id = Name(&self.run_id);
        Err(StoreError::new(
            Kind::AnotherInput,
            format_args!(
                "{place}: the run `{run_id}` was started with a different input{difference}; to start a \
                 run with this input, choose a different id; to continue the run with its recorded \
                 input, use `resume` or `start_or_resume_any_input`"
            ),
        ))
    }

    /// Returns the error for a run that is resumed with a state other than the recorded one, which
    /// is `None` if only its digest is recorded.
    pub(crate) fn another_state(
        &self,
        place: &str,
        recorded: Option<&str>,
        given: &str,
    ) -> StoreError {
        let difference = recorded.and_then(|recorded| difference(recorded, given));
        let at = difference.map_or_else(String::new, |difference| difference.to_string());
        let expected = match recorded {
            Some(_) => "the state that `RunJournal::state` returns",
            None => "the state that the program made of the input when it started the run",
        };

        let run_id = Name(&self.run_id);
        let flow = Name(&self.flow);
        StoreError::new(
            Kind::AnotherState,
            format_args!(
                "{place}: the run `{run_id}` of the flow `{flow}` began with a different \
                 state{at}; resume it with {expected}, or start a run with a different id"
            ),
        )
    }

    /// Checks that the flow hasn't changed since the run began. `otherwise` is what accepts a changed
    /// flow.
    pub(crate) fn check_graph(
        &self,
        place: &str,
        flow: &FlowGraph,
        otherwise: &str,
    ) -> Result<(), StoreError> {
        let Some(difference) = flow.difference(&self.graph) else {
            return Ok(());
        };

        let flow = Name(&self.flow);
        let text = format!(
            "{place}: the flow `{flow}` has changed since the run began: {difference}; \
             to continue with the changed flow, use `{otherwise}`"
        );
        Err(StoreError::changed_flow(text, difference))
    }

    /// Replaces the graph with that of the current flow. Returns whether it changed.
    pub(crate) fn take_graph(&mut self, flow: FlowGraph) -> bool {
        let changed = flow.difference(&self.graph).is_some();
        self.graph = flow;
        changed
    }
}
