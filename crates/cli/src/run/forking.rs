//! How the command `fork` forks a run.

use std::path::Path;

use cogwork_agents::{FileFlow, FlowState};
use cogwork_flow::BoxError;
use cogwork_journal::{FileStore, Fork, ForkPreview, RunJournal, Store, StoreError};
use cogwork_text::Escaped;
use cogwork_text::files::Folder;
use serde_json::{Map, Value, json};

use crate::arguments::{self, ForkAt, json_or_text};
use crate::output::{Outcome, write};

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
    let edited = Edited::read(arguments)?;
    let flow = loaded.flow();
    let store = FileStore::new(&arguments.journal);

    let previewed = store.preview_fork(&arguments.run, flow, edited.fork(arguments));
    previewed.await.map_err(|error| as_options(&error))?;
    let started = store.fork(&arguments.run, flow, edited.fork(arguments));
    let journal = started.await.map_err(|error| as_options(&error))?;
    Ok(journal)
}

/// Prints what can be changed.
pub(super) async fn show(
    arguments: &arguments::Fork,
    loaded: &FileFlow,
) -> Result<Outcome, BoxError> {
    let edited = Edited::read(arguments)?;
    let store = FileStore::new(&arguments.journal);
    let preview = store.preview_fork(&arguments.run, loaded.flow(), edited.fork(arguments));
    let preview = preview.await.map_err(|error| as_options(&error))?;

    let ForkPreview {
        step,
        outcomes,
        state,
        ..
    } = preview;
    let outcomes = outcomes.into_iter().map(|recorded| {
        let value: Value = recorded.outcome.read().unwrap_or_default();
        (recorded.step, value)
    });
    let outcomes: Map<String, Value> = outcomes.collect();
    let shown = json!({"step": step, "outcomes": outcomes, "state": state});
    Ok(write(loaded.hide_secrets(&format!("{shown:#}"))))
}

/// What is edited.
struct Edited {
    state: Option<FlowState>,
}

impl Edited {
    fn read(arguments: &arguments::Fork) -> Result<Self, String> {
        let state = arguments.state.as_deref().map(read_state).transpose()?;
        Ok(Self { state })
    }

    fn fork(&self, arguments: &arguments::Fork) -> Fork<FlowState> {
        let fork = match &arguments.at {
            ForkAt::Step(step) => Fork::at(*step),
            ForkAt::Visit { node, number } => Fork::at_visit(node, *number),
            ForkAt::End => Fork::at_end(),
        };

        let mut fork = fork.with_changed_flow(arguments.changed_flow);
        if let Some(outcome) = &arguments.outcome {
            fork = fork.with_outcome(&json_or_text(outcome));
        }
        for part in &arguments.outcome_of {
            fork = fork.with_outcome_of(&part.step, &part.value);
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

/// Reads a state from JSON, or from a file.
fn read_state(argument: &str) -> Result<FlowState, String> {
    let is_json = argument.trim_start().starts_with('{');
    let text = if is_json {
        argument.to_owned()
    } else {
        read_file(Path::new(argument))?
    };

    let origin = if is_json { "--state" } else { argument };
    serde_json::from_str(&text).map_err(|error| {
        let origin = Escaped::new(origin);
        format!("{origin}: this isn't a state of a flow: {error}; `--show` prints the recorded one")
    })
}

fn read_file(path: &Path) -> Result<String, String> {
    let shown = Escaped::new(path.display()).to_string();
    let failed = |problem: &dyn std::fmt::Display| {
        format!("{shown}: {problem}; expected a state as JSON, or a file with it")
    };

    let opened = Folder::of_file(path);
    let (folder, name) = opened.map_err(|error| failed(&error))?;
    let read = folder.read_text_file(name, MAX_STATE);
    read.map_err(|error| failed(&error))
}

/// Returns an error that names the options of the command instead of the methods of the library.
fn as_options(error: &StoreError) -> String {
    let options = [
        ("`Fork::with_outcome_of`", "`--outcome-of`"),
        ("`Fork::with_changed_flow`", "`--changed-flow`"),
        ("`Fork::with_run_id`", "`--id`"),
        ("`Fork::at_end`", "`--at end`"),
        ("`Fork::at`", "`--at` and a step"),
    ];

    let text = error.to_string();
    options
        .iter()
        .fold(text, |text, (method, option)| text.replace(method, option))
}
