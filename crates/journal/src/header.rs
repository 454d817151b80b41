//! The header of a run, written once, before its first entry.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cogwork_flow::draw::FlowGraph;
use cogwork_text::{Name, NameList};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{ForkOrigin, StoreError, StoreErrorKind};

/// The version of the format.
pub(crate) const FORMAT: u32 = 1;

/// Checks the id of a new run.
pub(crate) fn check_run_id(run_id: &str) -> Result<(), StoreError> {
    // PostgreSQL cannot keep a text with this character.
    if !run_id.is_empty() && !run_id.contains('\0') {
        return Ok(());
    }
    let run_id = Name(run_id);
    let text = format_args!("no run can have the id `{run_id}`; expected a text without NUL");
    Err(StoreError::new(StoreErrorKind::RunId, text))
}

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
        check_run_id(run_id)?;
        let refused = |problem: &dyn std::fmt::Display| {
            let run_id = Name(run_id);
            let text =
                format!("the input of the run `{run_id}` cannot be written as JSON: {problem}");
            StoreError::new(StoreErrorKind::Value, text)
        };

        let input = serde_json::value::to_raw_value(input).map_err(|error| refused(&error))?;
        // Only a `RawValue` can have more than one line, and a file has one line for each entry.
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

    pub(crate) fn started(&self) -> SystemTime {
        from_millis(self.started).unwrap_or(UNIX_EPOCH)
    }

    /// Checks that a node of the flow waits for this event.
    pub(crate) fn check_event(&self, place: &str, event: &str) -> Result<(), StoreError> {
        if self.graph.awaits(event) {
            return Ok(());
        }

        let known = self.graph.events();
        let known = NameList::and(&known);
        let flow = Name(&self.flow);
        let event = Name(event);
        let text = format_args!(
            "{place}: no node of the flow `{flow}` waits for the event `{event}`; it waits for {known}"
        );

        Err(StoreError::new(StoreErrorKind::UnknownEvent, text))
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
            StoreErrorKind::AnotherFlow,
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
            StoreErrorKind::AnotherInput,
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
        let at = difference.unwrap_or_default();
        let expected = match recorded {
            Some(_) => "the state that `RunJournal::state` returns",
            None => "the state that the program made of the input when it started the run",
        };

        let run_id = Name(&self.run_id);
        let flow = Name(&self.flow);
        StoreError::new(
            StoreErrorKind::AnotherState,
            format_args!(
                "{place}: the run `{run_id}` of the flow `{flow}` began with a different \
                 state{at}; resume it with {expected}, or start a run with a different id"
            ),
        )
    }

    /// Checks that the flow hasn't changed since the run began.
    pub(crate) fn check_graph(&self, place: &str, flow: &FlowGraph) -> Result<(), StoreError> {
        let Some(difference) = flow.difference(&self.graph) else {
            return Ok(());
        };

        let flow = Name(&self.flow);
        let text = format!(
            "{place}: the flow `{flow}` has changed since the run began: {difference}; \
             to continue with the changed flow, fork the run, and accept the change"
        );
        Err(StoreError::new(StoreErrorKind::AnotherFlow, text))
    }
}

/// Returns the current time of this machine, in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    to_millis(SystemTime::now())
}

pub(crate) fn to_millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns `None` if the platform cannot represent the time.
pub(crate) fn from_millis(millis: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_millis(millis))
}

/// Returns where two JSON texts differ, or `None` if they are equal. The order of keys doesn't matter,
/// since it differs between processes for a `HashMap`.
fn difference(recorded: &str, given: &str) -> Option<String> {
    // Mostly equal, and then neither of them needs to be parsed.
    if recorded == given {
        return None;
    }

    let recorded = serde_json::from_str::<Value>(recorded);
    let given = serde_json::from_str::<Value>(given);
    let (Ok(recorded), Ok(given)) = (recorded, given) else {
        // Nested too deeply to be compared part by part.
        return Some(String::new());
    };
    if recorded == given {
        return None;
    }

    let pointer = first_difference(&recorded, &given);
    let at = format!(" (it differs at `{}`)", Name(&pointer));
    Some(if pointer.is_empty() { pointer } else { at })
}

/// Returns the JSON pointer of the first part that differs, which is empty for the whole value.
fn first_difference(recorded: &Value, given: &Value) -> String {
    let (name, values) = match (recorded, given) {
        (Value::Object(recorded), Value::Object(given)) => {
            let mut keys = recorded.keys().chain(given.keys());
            let Some(key) = keys.find(|key| recorded.get(*key) != given.get(*key)) else {
                return String::new();
            };
            // As JSON pointers are written; `~` first, since the other replacement adds one.
            let name = key.replace('~', "~0").replace('/', "~1");
            (name, recorded.get(key).zip(given.get(key)))
        }
        (Value::Array(recorded), Value::Array(given)) => {
            let both = recorded.iter().zip(given);
            let equal = both
                .take_while(|(recorded, given)| recorded == given)
                .count();
            let values = recorded.get(equal).zip(given.get(equal));
            (equal.to_string(), values)
        }
        _ => return String::new(),
    };

    let rest = values.map(|(recorded, given)| first_difference(recorded, given));
    format!("/{name}{}", rest.unwrap_or_default())
}
