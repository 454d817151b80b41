use std::fmt;
use std::sync::Arc;

use cogwork_flow::{Action, Flow, FlowBuilder, Node, from_fn};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::settings::{schema_of, typed};
use crate::{FlowState, Making, SettingProblem};

type Make = dyn Fn(Json, &mut Making<'_, '_>) -> Result<Made, Vec<SettingProblem>> + Send + Sync;

/// A kind of node that files can name as `type`, with its settings.
///
/// ```
/// use cogwork_agents::{FlowState, Loader, Made, NodeType, Output};
/// use cogwork_flow::from_fn;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Shout {
///     /// What is put behind it.
///     end: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let shout = NodeType::new("shout", "Says in capitals what was said last.", |Shout { end }, making| {
///     let id = making.id().to_owned();
///     Ok(Made::node(from_fn(move |state: &mut FlowState| {
///         let text = state.last().text.to_uppercase() + &end;
///         state.put(&id, Output::new(text));
///     })))
/// });
/// let loader = Loader::new().with_node_type(shout)?;
/// let loaded = loader.load_text("flow.yaml", "nodes: [{id: loud, type: shout, config: {end: '!'}}]")?;
/// let mut state = FlowState::new("hello");
/// loaded.flow().run(&mut state).await?;
/// assert_eq!(state.last().text, "HELLO!");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct NodeType {
    name: String,
    summary: String,
    schema: Json,
    asks_model: bool,
    make: Arc<Make>,
}

impl NodeType {
    /// Creates a kind of node. `make` creates a node, or returns the problems of its settings.
    pub fn new<C>(
        name: impl Into<String>,
        summary: impl Into<String>,
        make: impl Fn(C, &mut Making<'_, '_>) -> Result<Made, Vec<SettingProblem>>
        + Send
        + Sync
        + 'static,
    ) -> Self
    where
        C: DeserializeOwned + JsonSchema,
    {
        Self {
            name: name.into(),
            summary: summary.into(),
            schema: schema_of::<C>(),
            asks_model: false,
            make: Arc::new(move |values, making| make(typed(values)?, making)),
        }
    }

    /// Gives each node a client, so that files can set a `provider`, its settings, and the settings
    /// of requests. See [`Making::client`]. By default, nodes don't have a client.
    #[must_use]
    pub fn with_client(mut self) -> Self {
        self.asks_model = true;
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the one-line description.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Returns the JSON Schema of the settings.
    pub fn schema(&self) -> &Json {
        &self.schema
    }

    /// Returns whether the nodes have a client.
    pub fn has_client(&self) -> bool {
        self.asks_model
    }

    pub(crate) fn make(
        &self,
        settings: Json,
        making: &mut Making<'_, '_>,
    ) -> Result<Made, Vec<SettingProblem>> {
        (self.make)(settings, making)
    }
}

impl fmt::Debug for NodeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeType")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

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

    /// Stands for a node that could not be created and that is left by these actions.
    pub(crate) fn placeholder(actions: &[&Action]) -> Self {
        let node = from_fn(|_: &mut FlowState| Action::DEFAULT);
        match actions {
            [] => Self::node(node),
            actions => Self::node(node.with_actions(actions.iter().copied())),
        }
    }

    /// Wraps a flow over the same state as a node. The node leaves by the label with which the flow
    /// ends.
    pub fn subflow(flow: Flow<FlowState>) -> Self {
        let actions = flow.actions();
        Self {
            actions,
            add: Box::new(|builder, id| builder.subflow(id, flow, |state| state)),
        }
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made")
            .field("actions", &self.actions)
            .finish_non_exhaustive()
    }
}
