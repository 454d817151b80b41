mod output;
mod visit;

pub use output::Output;
use output::is_default;
pub use visit::Visit;

use std::collections::{BTreeMap, VecDeque};

use cogwork_cot::Reasoning;
use cogwork_flow::watch::report_from;
use cogwork_llm::{Block, Usage};
use cogwork_strategies::Solving;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The state of a flow of agents: its input, the output of each node, every visit, and the cost.
///
/// The state can be saved and restored at any step of a run.
///
/// ```
/// use cogwork_agents::{FlowState, Output};
///
/// let mut state = FlowState::new("Write a haiku about rain.");
/// assert_eq!(state.last().text, "Write a haiku about rain.");
///
/// state.put("writer", Output::new("Rain taps on the roof"));
/// assert_eq!(state.last().text, "Rain taps on the roof");
/// assert_eq!(state.output("writer").map(|output| output.text.as_str()), Some("Rain taps on the roof"));
/// ```
// A person may have edited a saved state, and a misspelt key would be lost.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowState {
    input: Output,
    #[serde(default)]
    outputs: BTreeMap<String, Output>,
    /// The node with the last output.
    #[serde(default)]
    last: Option<String>,
    #[serde(default)]
    calls: u32,
    #[serde(default)]
    usage: Usage,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) reasonings: BTreeMap<String, Reasoning>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) solvings: BTreeMap<String, Solving>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) inside: BTreeMap<String, FlowState>,
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    visits: VecDeque<Visit>,
    #[serde(default, skip_serializing_if = "is_default")]
    dropped_visits: u64,
}

/// The maximum number of visits that a state keeps.
const MAX_VISITS: usize = 1_000;

impl FlowState {
    /// Creates the state of a flow that has not started yet, with this input.
    pub fn new(input: impl Into<String>) -> Self {
        Self::with_input(Output::new(input))
    }

    /// Adds images and files to the input. The default is none.
    #[must_use]
    pub fn with_blocks(mut self, blocks: impl IntoIterator<Item = Block>) -> Self {
        self.input = self.input.with_blocks(blocks);
        self
    }

    /// Returns the input of the flow.
    pub fn input(&self) -> &Output {
        &self.input
    }

    /// Returns the last output of a node.
    pub fn output(&self, node: &str) -> Option<&Output> {
        self.outputs.get(node)
    }

    /// Returns the last output of each node, by id.
    pub fn outputs(&self) -> &BTreeMap<String, Output> {
        &self.outputs
    }

    /// Returns the last output, or the input if there is no output yet.
    pub fn last(&self) -> &Output {
        self.last
            .as_ref()
            .and_then(|node| self.outputs.get(node))
            .unwrap_or(&self.input)
    }

    /// Returns the number of calls to the model over all visits that ended with an output.
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// Returns the number of tokens over all visits that ended with an output, as reported by
    /// clients.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the visits to nodes that ended with an output, in order.
    ///
    /// The newest 1,000 are kept. A visit of a `subflow` contains the visits inside.
    pub fn visits(&self) -> impl ExactSizeIterator<Item = &Visit> {
        self.visits.iter()
    }

    /// Returns the number of older visits that were dropped.
    pub fn dropped_visits(&self) -> u64 {
        self.dropped_visits
    }

    /// Returns the reasonings of the `chain_of_thought` nodes, by node.
    pub fn reasonings(&self) -> &BTreeMap<String, Reasoning> {
        &self.reasonings
    }

    /// Returns the session of the last visit of a `strategy` node.
    pub fn solving(&self, node: &str) -> Option<&Solving> {
        self.solvings.get(node)
    }

    /// Sets the output of a node and adds its cost.
    pub fn put(&mut self, node: &str, output: Output) {
        let mut visit = Visit::of(node);
        visit.spent.calls = output.calls;
        visit.spent.usage = output.usage;
        visit.output = Some(output);
        self.put_visit(visit);
    }

    /// Adds a visit, sets the output of its node, and adds its cost.
    pub(crate) fn put_visit(&mut self, visit: Visit) {
        let node = visit.node.clone();
        let output = visit.output.clone().unwrap_or_default();
        report_from("output", || json!({"type": "output", "text": output.text}));

        self.calls = self.calls.saturating_add(output.calls);
        self.usage += output.usage;
        self.outputs.insert(node.clone(), output);
        self.last = Some(node);

        // A loop that runs for days must not fill the memory, and the journal has all of it.
        self.visits.push_back(visit);
        if self.visits.len() > MAX_VISITS {
            self.visits.pop_front();
            self.dropped_visits = self.dropped_visits.saturating_add(1);
        }
    }

    /// Returns the state of a flow inside a node, or of a branch, with this input.
    pub(crate) fn with_input(input: Output) -> Self {
        Self {
            input,
            ..Self::default()
        }
    }

    /// Adds the visits and the inner states of a branch.
    pub(crate) fn absorb(&mut self, branch: Self) {
        self.reasonings.extend(branch.reasonings);
        self.solvings.extend(branch.solvings);
        self.inside.extend(branch.inside);

        for visit in branch.visits {
            self.put_visit(visit);
        }
    }

    /// Returns the visit of the node whose inner state this is.
    pub(crate) fn visit_around(&self, node: &str, mut output: Output) -> Visit {
        // A list, or an object of all outputs, is no more complete than its parts.
        for part in self.outputs.values() {
            output.include(part);
        }

        let mut visit = Visit::of(node);
        visit.spent.calls = self.calls;
        visit.spent.usage = self.usage;
        visit.inside = self.visits.iter().cloned().collect();
        visit.with_output(output)
    }
}
