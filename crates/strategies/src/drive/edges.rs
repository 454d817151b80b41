//! The actions of a solver's flow.

use cogwork_flow::Action;

pub(super) const SOLVED: Action = Action::from_static("solved");
pub(super) const STOPPED: Action = Action::from_static("stopped");

/// Returns the action that leads to a stage, which is the name of the stage.
///
/// A stage may be called `stopped`, like the action that ends a run. Names of stages don't contain
/// spaces, so the action for that stage can't collide with another one.
pub(super) fn to_stage(stage: &str) -> Action {
    if stage == STOPPED.as_str() {
        return Action::new(format!("to {stage}"));
    }
    Action::new(stage)
}
