use cogwork_flow::{Action, Flow, FlowBuilder, Node, from_fn};

use crate::FlowState;

/// A node that is not yet part of a flow.
pub struct Made {
    pub(crate) actions: Vec<Action>,
    pub(crate) add: Box<Add>,
}

type Add = dyn FnOnce(FlowBuilder<FlowState>, String) -> FlowBuilder<FlowState> + Send;

impl Made {
    /// Wraps a node.
    pub fn node(node: impl Node<FlowState> + 'static) -> Self {
        Self {
            actions: node.actions(),
            add: Box::new(|builder, id| builder.node(id, node)),
        }
    }

    /// Wraps a flow over the same state as a node. The node leaves by the label with which the flow
    /// ends.
    pub fn subflow(flow: Flow<FlowState>) -> Self {
        Self {
            actions: flow.actions(),
            add: Box::new(|builder, id| builder.subflow(id, flow, |state| state)),
        }
    }

    /// Stands for a node that could not be created and that is left by these actions.
    pub(crate) fn placeholder(actions: &[&Action]) -> Self {
        let node = from_fn(|_: &mut FlowState| Action::DEFAULT);
        match actions {
            [] => Self::node(node),
            actions => Self::node(node.with_actions(actions.iter().copied())),
        }
    }
}
