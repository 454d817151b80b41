//! How a run has ended or stopped: its result, warnings, and the exit code.

use std::collections::BTreeSet;
use std::time::UNIX_EPOCH;

use cogwork_agents::{AgentError, FileFlow, FlowState, Output};
use cogwork_flow::{BoxError, Ended as End, Paused, RunError};
use cogwork_journal::StoreError;
use cogwork_text::Name;
use serde_json::{Map, Value, json};

use super::hint::Hint;
use crate::output::{Ended, Exit, tell, write, write_json};

/// The end of a run.
pub(super) enum Ending {
    Answered(Output, End),
    Waits(Paused),
    /// An answer that cannot be filled in is an error of a run that has ended.
    Failed(BoxError),
}

impl Ending {
    pub(super) fn new(ended: Result<End, RunError>, loaded: &FileFlow, state: &FlowState) -> Self {
        match ended.map_err(RunError::into_paused) {
            Ok(end) => match loaded.answer(state) {
                Ok(answer) => Self::Answered(answer, end),
                Err(error) => Self::Failed(error.into()),
            },
            Err(Ok(paused)) => Self::Waits(paused),
            Err(Err(error)) => Self::Failed(error.into()),
        }
    }

    /// Prints the answer or the result as JSON.
    pub(super) fn write(&self, as_json: bool, state: &FlowState, run: Option<&str>) -> Ended {
        match self {
            _ if as_json => write_json(self.json(state, run)),
            Self::Answered(answer, _) => write(&answer.text),
            Self::Waits(_) | Self::Failed(_) => Ok(()),
        }
    }

    /// Prints why there is no answer, and how to continue.
    pub(super) fn explain(&self, hint: &Hint<'_>, is_interrupted: bool) -> Ended {
        let exit = match self {
            Self::Answered(..) => return Ok(()),
            Self::Waits(paused) => {
                hint.tell_pause(paused);
                Exit::Waiting
            }
            Self::Failed(error) => {
                let stopped = error.downcast_ref::<RunError>();
                tell(format_args!("cogwork: {error:#}"));
                hint.tell_stop();
                match stopped.and_then(RunError::downcast_ref::<StoreError>) {
                    Some(_) => Exit::NotReadOrWritten,
                    None => Exit::RunFailed,
                }
            }
        };

        // Also of a run that was waiting when it was interrupted.
        let exit = if is_interrupted {
            Exit::Interrupted
        } else {
            exit
        };
        Err(exit.into())
    }

    /// Returns everything about the run.
    fn json(&self, state: &FlowState, run: Option<&str>) -> Value {
        let mut result = Map::new();
        let mut add = |key: &str, value: Value| drop(result.insert(key.to_owned(), value));
        match self {
            Self::Answered(answer, end) => {
                add("answer", json!(answer.text));
                add("action", json!(end.action));
                add("steps", json!(end.steps));
            }
            Self::Waits(paused) => add("paused", waits(paused)),
            Self::Failed(error) => {
                add("error", error.to_string().into());
                let failed = error.downcast_ref::<RunError>();
                // Its replies and tool calls are in no state.
                if let Some(agent) = failed.and_then(RunError::downcast_ref::<AgentError>) {
                    add("failed", json!(agent.visit()));
                }
            }
        }

        add("state", json!(state));
        if let Some(run) = run {
            add("run", run.into());
        }
        Value::Object(result)
    }
}

/// Prints warnings about problems that didn't end the run but affect its answer.
pub(super) fn warn(state: &FlowState) {
    for (node, said) in state.outputs() {
        let node = Name(node);

        if said.truncated {
            tell(format_args!(
                "cogwork: the output of `{node}` is cut off, by the token limit or a filter"
            ));
        }

        if let Some(reason) = &said.cut_short {
            tell(format_args!(
                "cogwork: the answer of `{node}` is not complete: {reason}"
            ));
        }

        // A memory that cannot be opened fails for every search and every addition.
        let reports = said.thinking.iter();
        let failures: BTreeSet<_> = reports.flat_map(|report| &report.memory_failures).collect();
        for failure in failures {
            tell(format_args!(
                "cogwork: `{node}` went without its memory: {failure}"
            ));
        }
    }
}

/// Returns all events that a run waits for.
fn waits(paused: &Paused) -> Value {
    let all = [paused].into_iter().chain(&paused.also);

    all.map(|pause| {
        let until = pause.until;
        let until = until.and_then(|until| until.duration_since(UNIX_EPOCH).ok());
        json!({
            "event": pause.event,
            "reason": pause.why,
            "step": pause.step.to_string(),
            "until": until.map(|until| until.as_secs_f64()),
        })
    })
    .collect()
}
