//! Forks of runs: what can be changed, and what is changed.

use cogwork_flow::Flow;
use cogwork_journal::{Fork, ForkPreview, RunJournal, Store, StoreError, StoreErrorKind};
use cogwork_text::Name;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{FlowError, ForkPart};

/// The maximum number of outcomes that are offered to be edited.
const MAX_OUTCOMES: usize = 100;

/// The maximum length of the state to edit, and that of all outcomes, in bytes. Longer ones aren't
/// offered.
const MAX_TEXT: usize = 256 * 1024;

/// How to fork a run, as a person entered it. Texts are checked when it is used.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForkRequest {
    /// The first step that is executed anew, counted from 1.
    pub(crate) at: u64,
    /// The model for all nodes whose model can be replaced; `None` for those of the flow.
    #[serde(default)]
    pub(crate) model: Option<String>,
    /// The outcomes that replace recorded ones.
    #[serde(default)]
    pub(crate) outcomes: Vec<EditedText>,
    /// The state before the step, as JSON; `None` for the recorded one.
    #[serde(default)]
    pub(crate) state: Option<String>,
    /// Whether the flow may have changed since the run was recorded.
    #[serde(default)]
    pub(crate) changed_flow: bool,
}

/// The outcome of a step, or of a part of it, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditedText {
    /// The name of the step, of an item or branch of it, or of a call in it.
    pub(crate) step: String,
    /// The JSON.
    pub(crate) text: String,
}

/// What a fork at a step can change.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct ForkChoices {
    /// The step.
    pub(crate) at: u64,
    /// The recorded outcomes of the step, at most 100.
    pub(crate) outcomes: Vec<EditedText>,
    /// The recorded state before the step, as JSON.
    pub(crate) state: Option<String>,
    /// Why there is no state, or only some of the outcomes.
    pub(crate) problem: Option<String>,
    /// How the flow has changed since the run was recorded; `None` if it hasn't.
    pub(crate) flow_changes: Option<String>,
    /// Whether the model can be replaced.
    pub(crate) has_models: bool,
    /// What else to know, for example which file to edit.
    pub(crate) note: Option<String>,
}

impl ForkChoices {
    /// Returns what a fork of a run at this step can change. Nothing is executed.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be forked there.
    pub(crate) async fn of<S>(
        store: &Store,
        run_id: &str,
        flow: &Flow<S>,
        at: u64,
    ) -> Result<Self, FlowError>
    where
        S: Serialize + DeserializeOwned + Send + 'static,
    {
        let strict = store.preview_fork(run_id, flow, Fork::at(at)).await;
        let changes = strict.as_ref().err().and_then(changes);
        let preview = match &changes {
            Some(_) => {
                let fork = Fork::at(at).with_changed_flow(true);
                store.preview_fork(run_id, flow, fork).await
            }
            None => strict,
        };

        let choices = match preview {
            Ok(preview) => Self::from_preview(preview),
            Err(error) if is_about_fork(&error) => return Err(refused(&error)),
            Err(error) => Self {
                at,
                problem: Some(error.to_string()),
                ..Self::default()
            },
        };
        Ok(Self {
            flow_changes: changes,
            ..choices
        })
    }

    fn from_preview<S: Serialize>(preview: ForkPreview<S>) -> Self {
        let found = preview.outcomes.len();
        let outcomes = preview.outcomes.into_iter().filter_map(|recorded| {
            let value: Value = recorded.outcome.read().ok()?;
            let text = pretty(&value)?;
            let step = recorded.step;
            Some(EditedText { step, text })
        });
        let mut left = MAX_TEXT;
        let outcomes = outcomes.take_while(|outcome| {
            let rest = left.checked_sub(outcome.text.len());
            left = rest.unwrap_or_default();
            rest.is_some()
        });
        let outcomes: Vec<_> = outcomes.take(MAX_OUTCOMES).collect();
        let state = pretty(&preview.state);

        let problem = if state.is_none() {
            Some("the state is too long to be edited here".to_owned())
        } else if outcomes.len() < found {
            let shown = outcomes.len();
            Some(format!("{shown} of {found} outcomes can be edited here"))
        } else {
            None
        };

        Self {
            at: preview.step,
            outcomes,
            state,
            problem,
            ..Self::default()
        }
    }

    /// Hides secrets in each text.
    pub(crate) fn with_secrets(mut self, hide: impl Fn(&str) -> String) -> Self {
        let mut has_hidden = false;
        let outcomes = self.outcomes.iter_mut().map(|outcome| &mut outcome.text);
        for text in outcomes.chain(&mut self.state) {
            let shown = hide(text);
            has_hidden |= shown != *text;
            *text = shown;
        }

        if has_hidden {
            let hidden = "parts of these texts are hidden; an edited text is used as it is shown";
            self.problem = Some(hidden.to_owned());
        }
        self
    }
}

impl ForkRequest {
    /// Checks the request and starts the new run. Nothing is executed yet.
    ///
    /// The steps that the fork keeps are replayed in memory, so that a state or an outcome that the
    /// flow cannot use is refused before there is a new run.
    ///
    /// # Errors
    ///
    /// Returns an error that names the part at fault.
    pub(crate) async fn start<S>(
        &self,
        store: &Store,
        run_id: &str,
        flow: &Flow<S>,
    ) -> Result<RunJournal, FlowError>
    where
        S: Serialize + DeserializeOwned + Send + 'static,
    {
        let previewed = store.preview_fork(run_id, flow, self.fork()?).await;
        if let Err(error) = previewed {
            // What isn't on record cannot be replayed here, but it can be executed.
            let has_edits = self.state.is_some() || !self.outcomes.is_empty();
            if has_edits || error.kind() == StoreErrorKind::AnotherFlow {
                return Err(self.refused(&error));
            }
        }

        let started = store.fork(run_id, flow, self.fork()?).await;
        started.map_err(|error| self.refused(&error))
    }

    fn fork<S>(&self) -> Result<Fork<S>, FlowError>
    where
        S: Serialize + DeserializeOwned + Send + 'static,
    {
        if self.at == 0 {
            return Err(FlowError::refused(ForkPart::At, "steps are counted from 1"));
        }

        let mut fork = Fork::at(self.at).with_changed_flow(self.changed_flow);
        for EditedText { step, text } in &self.outcomes {
            let outcome: Value = serde_json::from_str(text).map_err(|error| {
                let step = Name(step);
                let problem = format_args!("the outcome of `{step}` isn't JSON: {error}");
                FlowError::refused(ForkPart::Outcome, problem)
            })?;
            fork = fork.with_outcome_of(step, &outcome);
        }

        let Some(text) = &self.state else {
            return Ok(fork);
        };
        let edited: S = serde_json::from_str(text).map_err(|error| {
            let problem = format_args!("this isn't a state of the flow: {error}");
            FlowError::refused(ForkPart::State, problem)
        })?;
        Ok(fork.with_state(move |state| *state = edited))
    }

    fn refused(&self, error: &StoreError) -> FlowError {
        let is_of_outcome = matches!(
            error.kind(),
            StoreErrorKind::Value | StoreErrorKind::UnknownStep
        );
        if is_of_outcome && !self.outcomes.is_empty() {
            return FlowError::refused(ForkPart::Outcome, error);
        }
        if let Some(changes) = changes(error) {
            return FlowError::refused(ForkPart::Flow, changes);
        }
        refused(error)
    }
}

/// Returns how a flow has changed, if that is the error.
fn changes(error: &StoreError) -> Option<String> {
    let changes = error.flow_changes()?;
    Some(format!(
        "the flow has changed since the run began: {changes}"
    ))
}

/// Returns whether a run cannot be forked as requested, in contrast to one that cannot be replayed.
fn is_about_fork(error: &StoreError) -> bool {
    use StoreErrorKind::{AnotherFlow, UnknownStep};
    is_of_store(error) || matches!(error.kind(), AnotherFlow | UnknownStep)
}

fn is_of_store(error: &StoreError) -> bool {
    use StoreErrorKind::{Damaged, Missing, Unavailable};
    matches!(error.kind(), Damaged | Missing | Unavailable)
}

fn refused(error: &StoreError) -> FlowError {
    if is_of_store(error) {
        return FlowError::Store(error.clone());
    }

    let part = if error.kind() == StoreErrorKind::UnknownStep {
        ForkPart::At
    } else {
        ForkPart::Flow
    };
    FlowError::refused(part, error)
}

/// Returns a value as JSON to edit. Returns `None` if it is too long.
fn pretty(value: &impl Serialize) -> Option<String> {
    let text = serde_json::to_string_pretty(value).ok()?;
    (text.len() <= MAX_TEXT).then_some(text)
}
