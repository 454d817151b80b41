//! How the command `fork` forks a run.

use std::path::Path;

use cogwork_agents::{FileFlow, FlowState};
use cogwork_flow::BoxError;
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

/// Starts the new run, after checking that the flow can use what is edited.
pub(super) async fn start(
    arguments: &arguments::Fork,
    loaded: &FileFlow,
) -> Result<RunJournal, BoxError> {
    let (store, state, outcome) = edits(arguments, loaded).await?;
    preview(
        arguments,
        &store,
        loaded,
        fork(arguments, state.clone(), outcome.as_ref()),
    )
    .await?;

    let fork = fork(arguments, state, outcome.as_ref());
    let started = store.fork(&arguments.run, loaded.flow(), fork).await;
    Ok(started.map_err(|error| as_options(&error))?)
}

/// Prints what can be changed.
pub(super) async fn show(arguments: &arguments::Fork, loaded: &FileFlow) -> Ended {
    let (store, state, outcome) = edits(arguments, loaded).await?;
    let fork = fork(arguments, state, outcome.as_ref());
    let preview = preview(arguments, &store, loaded, fork).await?;

    let outcomes = preview.outcomes.into_iter().map(|recorded| {
        let value: Value = recorded.outcome.read().unwrap_or_default();
        (recorded.step, value)
    });
    let outcomes: Map<String, Value> = outcomes.collect();
    write_json(json!({"step": preview.step, "outcomes": outcomes, "state": preview.state}))
}

/// Returns the store of the run, and the edited state and outcome.
async fn edits(
    arguments: &arguments::Fork,
    loaded: &FileFlow,
) -> Result<(Store, Option<FlowState>, Option<Value>), BoxError> {
    let state = edited_state(arguments)?;
    let store = Store::at(&arguments.journal)?;
    let outcome = edited_outcome(arguments, &store, loaded).await?;
    Ok((store, state, outcome))
}

async fn preview(
    arguments: &arguments::Fork,
    store: &Store,
    loaded: &FileFlow,
    fork: Fork<FlowState>,
) -> Result<ForkPreview<FlowState>, String> {
    let previewed = store
        .preview_fork(&arguments.run, loaded.flow(), fork)
        .await;
    previewed.map_err(|error| as_options(&error))
}

/// Returns the fork with what is edited.
fn fork(
    arguments: &arguments::Fork,
    state: Option<FlowState>,
    outcome: Option<&Value>,
) -> Fork<FlowState> {
    let mut fork = unedited(arguments);
    if let Some(outcome) = outcome {
        fork = fork.with_outcome(outcome);
    }
    for part in &arguments.outcome_of {
        fork = fork.with_outcome_of(&part.name, &part.value);
    }
    if let Some(state) = state {
        fork = fork.with_state(move |now| *now = state);
    }

    match &arguments.id {
        Some(id) => fork.with_run_id(id),
        None => fork,
    }
}

fn unedited(arguments: &arguments::Fork) -> Fork<FlowState> {
    let fork = match &arguments.at {
        ForkAt::Step(step) => Fork::at(*step),
        ForkAt::Visit { node, number } => Fork::at_visit(node, *number),
        ForkAt::End => Fork::at_end(),
    };
    fork.with_changed_flow(arguments.changed_flow)
}

/// Returns the edited outcome of the step. A text replaces the text of an agent's answer, of which the
/// rest stays as it is recorded.
async fn edited_outcome(
    arguments: &arguments::Fork,
    store: &Store,
    loaded: &FileFlow,
) -> Result<Option<Value>, String> {
    let Some(argument) = &arguments.outcome else {
        return Ok(None);
    };
    let edited = json_or_text(argument);
    // JSON is the whole outcome.
    if !edited.is_string() {
        return Ok(Some(edited));
    }

    let preview = preview(arguments, store, loaded, unedited(arguments)).await?;
    let mut answers = preview.outcomes.iter().filter_map(|recorded| {
        let mut answer: Value = recorded.outcome.read().ok()?;
        *answer.pointer_mut("/visit/output/text")? = edited.clone();
        Some(answer)
    });
    let answer = answers.next();
    Ok(Some(answer.unwrap_or(edited)))
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
