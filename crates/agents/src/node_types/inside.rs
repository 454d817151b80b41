//! A flow over a part of the state, as a node. Each of its steps is a step of the run, which is
//! recorded and drawn. If it were a single step, it would start over after a crash.

use cogwork_flow::{Action, BuildError, Flow, from_fn};

use crate::{FlowState, Output, Template, Visit};

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
    template
        .fill(state)
        .map_err(|error| NoAnswer(error.of(format!("`{setting}`")).to_string()))
}

/// Returns a flow that runs `flow` between two nodes. `begin` sets the part of the state, and `say`
/// returns the visit. `leave` maps each label with which the flow ends to a label of the node.
pub(super) fn inside<T: 'static>(
    id: &str,
    begin: impl Fn(&mut FlowState) -> Result<(), NoAnswer> + Send + Sync + 'static,
    flow: Flow<T>,
    part: impl Fn(&mut FlowState) -> &mut T + Send + Sync + 'static,
    say: impl Fn(&mut FlowState) -> Result<Visit, NoAnswer> + Clone + Send + Sync + 'static,
    leave: impl Fn(&Action) -> Action,
) -> Result<Flow<FlowState>, BuildError> {
    let ends = flow.actions();
    let mut builder = Flow::builder(id)
        .start("begin")
        .node(
            "begin",
            from_fn(move |state: &mut FlowState| Ok(begin(state)?)),
        )
        .edge("begin", Action::DEFAULT, "run")
        .subflow("run", flow, part);

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
            let by = label.clone();
            let node = from_fn(move |state: &mut FlowState| {
                let visit = say(state)?;
                state.put_visit(visit);
                Ok(by.clone())
            });

            builder = builder
                .node(name.as_str(), node.with_actions([&label]))
                .end(name, &label);
            labels.push(label);
        }
    }

    builder.build()
}
