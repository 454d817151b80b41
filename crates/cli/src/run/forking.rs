//! How the command `fork` forks a run.

use std::path::Path;

use cogwork_agents::FlowState;
use cogwork_flow::{BoxError, Flow};
use cogwork_journal::{Fork, ForkPreview, RunJournal, Store, StoreError};
use cogwork_text::Escaped;
use serde_json::{Map, Value, json};

use crate::arguments::{self, ForkAt, json_or_text};
use crate::output::{Ended, read_text, write_json};

/// Why a model cannot be replaced.
pub(crate) const NO_MODELS: &str = "no node of the flow has a model that can be replaced; expected one with the provider \
                                    openai, anthropic or ollama";

/// The maximum size of a file with a state, in bytes.
const MAX_STATE: u64 = 64 << 20;

/// A fork with what the command line edits.
pub(super) struct Edited<'a> {
    arguments: &'a arguments::Fork,
    flow: &'a Flow<FlowState>,
    store: Store,
    state: Option<FlowState>,
    outcome: Option<Value>,
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
        };
        if let Some(outcome) = &arguments.outcome {
            edited.outcome = Some(edited.outcome(outcome).await?);
        }
        Ok(edited)
    }

    /// Starts the new run, after checking that the flow can use what is edited.
    pub(super) async fn start(&self) -> Result<RunJournal, BoxError> {
        self.preview().await?;

        let run = &self.arguments.run;
        let started = self.store.fork(run, self.flow, self.fork()).await;
        Ok(started.map_err(|error| as_options(&error))?)
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

    async fn preview(&self) -> Result<ForkPreview<FlowState>, String> {
        let run = &self.arguments.run;
        let previewed = self.store.preview_fork(run, self.flow, self.fork()).await;
        previewed.map_err(|error| as_options(&error))
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
        for (part, outcome) in &arguments.outcome_of {
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

    /// Returns the edited outcome of the step. The text of an agent's answer or of a tool's result may
    /// be given alone; the rest stays as it is recorded.
    async fn outcome(&self, argument: &str) -> Result<Value, String> {
        let edited = json_or_text(argument);
        let text = edited.as_str().unwrap_or(argument);

        let preview = self.preview().await?;
        let mut outcomes = preview.outcomes.iter().filter_map(|recorded| {
            let mut outcome: Value = recorded.outcome.read().ok()?;
            let mut texts = ["/visit/output/text", "/result"].into_iter();
            let place = texts.find(|place| outcome.pointer(place).is_some())?;
            // Otherwise, it is the whole outcome, as it is shown.
            let is_whole = edited.pointer(place).is_some();
            *outcome.pointer_mut(place).filter(|_| !is_whole)? = text.into();
            Some(outcome)
        });
        Ok(outcomes.next().unwrap_or(edited.clone()))
    }
}

/// Reads the edited state from JSON, or from a file.
fn edited_state(arguments: &arguments::Fork) -> Result<Option<FlowState>, String> {
    let Some(argument) = &arguments.state else {
        return Ok(None);
    };

    let (origin, text) = if argument.trim_start().starts_with('{') {
        ("--state", argument.clone())
    } else {
        let text = read_text(Path::new(argument), MAX_STATE);
        let expected = "expected a state as JSON, or a file with it";
        let text = text.map_err(|error| format!("{error}; {expected}"))?;
        (argument.as_str(), text)
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        let origin = Escaped::new(origin);
        format!("{origin}: this isn't a state of a flow: {error}; `--show` prints the recorded one")
    })
}

/// Returns an error that names the options of the command instead of the methods of the library.
pub(super) fn as_options(error: &StoreError) -> String {
    // The library names its methods, which whoever uses the command has never seen.
    let options = [
        ("`Fork::with_outcome_of`", "`--outcome-of`"),
        ("`Fork::with_run_id`", "`--id`"),
        ("`Fork::at_end`", "`--at end`"),
        (
            "`resume_changed`, or `Fork::with_changed_flow` for a fork",
            "`--changed-flow` of `cogwork fork`, and `--at end` to keep all steps",
        ),
        ("`Fork::at`", "`--at` and a step"),
    ];

    let text = error.to_string();
    options
        .iter()
        .fold(text, |text, (method, option)| text.replace(method, option))
}
