//! How the command `fork` forks a run.

use cogwork_agents::FlowState;
use cogwork_flow::{BoxError, Flow};
use cogwork_journal::{Fork, ForkOutcome, ForkPreview, RunJournal, Store, StoreError};
use cogwork_text::Escaped;
use serde_json::{Map, Value, json};

use crate::arguments::{self, ForkAt, Named, json_or_text};
use crate::output::{Ended, read_text, write_json};

/// The maximum size of a file with a state, in bytes.
const MAX_STATE: u64 = 64 << 20;

/// Where a text is in a recorded outcome: in the answer of an agent, the result of a tool, and the
/// results of the calls of models and tools inside a step.
const TEXTS: [&str; 4] = [
    "/visit/output/text",
    "/result",
    "/Ok/result/Ok/text",
    "/Ok/result/Ok",
];

/// A fork with what the command line edits.
pub(super) struct Edited<'a> {
    arguments: &'a arguments::Fork,
    flow: &'a Flow<FlowState>,
    /// Where both runs are.
    pub(super) store: Store,
    state: Option<FlowState>,
    outcome: Option<Value>,
    outcomes_of: Vec<Named>,
}

impl<'a> Edited<'a> {
    pub(super) async fn new(
        arguments: &'a arguments::Fork,
        flow: &'a Flow<FlowState>,
    ) -> Result<Self, BoxError> {
        let mut edited = Self {
            arguments,
            flow,
            store: Store::at(&arguments.journal)?,
            state: edited_state(arguments)?,
            outcome: None,
            outcomes_of: Vec::new(),
        };

        let (outcome, outcome_of) = (&arguments.outcome, &arguments.outcome_of);
        if outcome.is_some() || !outcome_of.is_empty() {
            let recorded = edited.preview().await?.outcomes;
            edited.outcome = outcome.as_deref().map(|new| of_step(&recorded, new));
            let of_parts = outcome_of.iter().map(|new| of_part(&recorded, new));
            edited.outcomes_of = of_parts.collect();
        }
        Ok(edited)
    }

    /// Starts the new run, after checking that the flow can use what is edited.
    pub(super) async fn start(&self) -> Result<RunJournal, StoreError> {
        self.preview().await?;

        let run = &self.arguments.run;
        self.store.fork(run, self.flow, self.fork()).await
    }

    /// Prints what can be changed.
    pub(super) async fn show(&self) -> Ended {
        let preview = self.preview().await?;
        let outcomes = preview.outcomes.into_iter().map(|recorded| {
            let value: Value = recorded.outcome.read().unwrap_or_default();
            (recorded.step, value)
        });

        let outcomes: Map<String, Value> = outcomes.collect();
        write_json(json!({"step": preview.step, "outcomes": outcomes, "state": preview.state}))
    }

    async fn preview(&self) -> Result<ForkPreview<FlowState>, StoreError> {
        let run = &self.arguments.run;
        self.store.preview_fork(run, self.flow, self.fork()).await
    }

    fn fork(&self) -> Fork<FlowState> {
        let arguments = self.arguments;
        let mut fork = match &arguments.at {
            ForkAt::Step(step) => Fork::at(*step),
            ForkAt::Visit { node, number } => Fork::at_visit(node, *number),
            ForkAt::End => Fork::at_end(),
        };

        fork = fork.with_changed_flow(arguments.changed_flow);
        if let Some(outcome) = &self.outcome {
            fork = fork.with_outcome(outcome);
        }
        for (part, outcome) in &self.outcomes_of {
            fork = fork.with_outcome_of(part, outcome);
        }
        if let Some(state) = self.state.clone() {
            fork = fork.with_state(move |now| *now = state);
        }
        match &arguments.id {
            Some(id) => fork.with_run_id(id),
            None => fork,
        }
    }
}

/// Returns the edited outcome of a step.
fn of_step(recorded: &[ForkOutcome], argument: &str) -> Value {
    let edited = json_or_text(argument);
    let text = edited.as_str().unwrap_or(argument);

    // The calls inside the step have names of their own.
    let is_call = |step: &str| step.rsplit('#').next().is_some_and(|end| end.contains('.'));
    let mut outcomes = recorded.iter().filter(|recorded| !is_call(&recorded.step));
    let replaced = outcomes.find_map(|recorded| replaced(recorded, &edited, text));
    replaced.unwrap_or_else(|| edited.clone())
}

/// Returns the edited outcome of a part of a step, with the name of the part.
fn of_part(recorded: &[ForkOutcome], (part, edited): &Named) -> Named {
    let mut recorded = recorded.iter().filter(|recorded| recorded.step == *part);
    let replaced = recorded.find_map(|recorded| replaced(recorded, edited, &text_of(edited)));
    (part.clone(), replaced.unwrap_or_else(|| edited.clone()))
}

/// Returns a recorded outcome with a new text. Returns `None` if there is no text to replace, or if all
/// of the outcome is edited.
fn replaced(recorded: &ForkOutcome, edited: &Value, text: &str) -> Option<Value> {
    let mut outcome: Value = recorded.outcome.read().ok()?;
    let mut texts = TEXTS.into_iter();
    let place = texts.find(|place| outcome.pointer(place).is_some_and(Value::is_string))?;

    // An answer that is JSON itself is a text, too.
    let is_result = edited.get("Ok").or(edited.get("Err")).is_some();
    if edited.pointer(place).is_some() || place.starts_with("/Ok") && is_result {
        return None;
    }

    *outcome.pointer_mut(place)? = text.into();
    Some(outcome)
}

fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads the edited state.
fn edited_state(arguments: &arguments::Fork) -> Result<Option<FlowState>, String> {
    let Some(file) = &arguments.state else {
        return Ok(None);
    };

    let text = read_text(file, MAX_STATE)?;
    serde_json::from_str(&text).map(Some).map_err(|error| {
        let file = Escaped::new(file.display());
        format!("{file}: this isn't a state of a flow: {error}; `--show` prints the recorded one")
    })
}
