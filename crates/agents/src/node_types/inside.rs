//! A flow over a part of the state, as a node. Each of its steps is a step of the run, which is
//! recorded and drawn. If it were a single step, it would start over after a crash.

use std::sync::Arc;

use cogwork_flow::{Action, Flow, from_fn};

use crate::{FlowState, Made, Making, Output, Template, Visit};

/// The reason why an inner flow cannot start, or has no answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NoAnswer(pub(super) String);

/// Fills the template of a setting.
pub(super) fn filled(
    template: &Template,
    setting: &str,
    state: &FlowState,
) -> Result<Output, NoAnswer> {
    let filled = template.fill_as(&format!("`{setting}`"), state);
    filled.map_err(|error| NoAnswer(error.to_string()))
}

/// A flow over a part of the state, as a node.
pub(super) struct Inside<T> {
    pub(super) prompt: Template,
    pub(super) flow: Flow<T>,
    /// Maps each label with which the flow ends to a label of the node.
    pub(super) leave: fn(&Action) -> Action,
}

impl<T: 'static> Inside<T> {
    /// Wraps the flow between two nodes: `begin` sets the part of the state with the filled prompt,
    /// `part` returns that part, and `say` the visit. Each of them gets the id of the node.
    pub(super) fn made(
        self,
        making: &mut Making<'_, '_>,
        begin: impl Fn(&mut FlowState, &str, Output) + Send + Sync + 'static,
        part: impl for<'s> Fn(&'s mut FlowState, &str) -> &'s mut T + Send + Sync + 'static,
        say: impl Fn(&mut FlowState, &str) -> Result<Visit, NoAnswer> + Clone + Send + Sync + 'static,
    ) -> Option<Made> {
        let Self {
            prompt,
            flow,
            leave,
        } = self;
        let id: Arc<str> = making.id().into();

        let ends = flow.actions();
        let begin_id = Arc::clone(&id);
        let part_id = Arc::clone(&id);
        let begin = from_fn(move |state: &mut FlowState| {
            // Filled once, because the outputs may change while the inner flow runs.
            let prompt = filled(&prompt, "prompt", state)?;
            begin(state, &begin_id, prompt);
            Ok(())
        });
        let mut builder = Flow::builder(&*id)
            .start("begin")
            .node("begin", begin)
            .edge("begin", Action::DEFAULT, "run")
            .subflow("run", flow, move |state| part(state, &part_id));

        // One node for each label, because a label may stand for several ends.
        let mut labels: Vec<Action> = Vec::new();
        for end in &ends {
            let label = leave(end);
            let name = if label == Action::DEFAULT {
                "say".to_owned()
            } else {
                format!("say {label}")
            };

            builder = builder.edge("run", end, name.as_str());
            if !labels.contains(&label) {
                let say = say.clone();
                let say_id = Arc::clone(&id);
                let by = label.clone();
                let node = from_fn(move |state: &mut FlowState| {
                    let visit = say(state, &say_id)?;
                    state.put_visit(visit);
                    Ok(by.clone())
                });

                builder = builder
                    .node(name.as_str(), node.with_actions([&label]))
                    .end(name, &label);
                labels.push(label);
            }
        }

        making.built(builder).map(Made::subflow)
    }
}
