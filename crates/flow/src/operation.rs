/// What the `exec` of a node does, for tools that show traces.
///
/// With the feature `tracing`, the span of each step of the node is named after its operation, with
/// the names of OpenTelemetry's conventions for generative AI.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Operation {
    /// Nothing in particular.
    #[default]
    Step,
    /// An agent works on a task.
    Agent {
        /// The name of the agent.
        name: String,
    },
    /// A model makes or changes a plan.
    Plan,
}
