use std::collections::BTreeMap;

use cogwork_cot::Reasoning;
use cogwork_llm::{Block, Usage};
use cogwork_strategies::Solving;
use cogwork_thinking::Report;
use serde::{Deserialize, Serialize};

/// The state of a flow of agents: what it was given, what each node has said, what it has cost.
///
/// It can be saved and read back at any step of a run.
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
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FlowState {
    input: Output,
    #[serde(default)]
    outputs: BTreeMap<String, Output>,
    /// The node that spoke last.
    #[serde(default)]
    last: Option<String>,
    #[serde(default)]
    calls: u32,
    #[serde(default)]
    usage: Usage,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    reasonings: BTreeMap<String, Reasoning>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    solvings: BTreeMap<String, Solving>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    inside: BTreeMap<String, FlowState>,
}

/// What a flow was given, or a node has said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Output {
    /// The text.
    pub text: String,
    /// Images and files that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
    /// The tools that were called for it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolUse>,
    /// What thinking and memory did for it, where there was any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Report>,
    /// Whether it was cut off, at the limit of tokens or by a filter: the model had more to say. So is what a
    /// subflow answers with a text that was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The calls of the model it took, failed ones included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u32,
    /// The tokens it took, as far as clients say. The state's sum has them too.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub usage: Usage,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_nothing(usage: &Usage) -> bool {
    *usage == Usage::default()
}

/// A call of a tool and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolUse {
    /// The name of the tool, as the model wrote it.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
    /// What the tool gave, or why it failed.
    pub result: String,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl Output {
    /// A text alone.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Adds images and files. Unset: none.
    #[must_use]
    pub fn with_blocks(mut self, blocks: impl IntoIterator<Item = Block>) -> Self {
        self.blocks = blocks.into_iter().collect();
        self
    }

    /// Adds the calls of the model it took. Unset: none.
    #[must_use]
    pub fn with_calls(mut self, calls: u32) -> Self {
        self.calls = calls;
        self
    }

    /// Adds the tokens it took. Unset: none.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }
}

impl FlowState {
    /// A flow that has not begun, with this input.
    pub fn new(input: impl Into<String>) -> Self {
        Self {
            input: Output::new(input),
            ..Self::default()
        }
    }

    /// Adds images and files to the input. Unset: none.
    #[must_use]
    pub fn with_blocks(mut self, blocks: impl IntoIterator<Item = Block>) -> Self {
        self.input = self.input.with_blocks(blocks);
        self
    }

    /// What the flow was given.
    pub fn input(&self) -> &Output {
        &self.input
    }

    /// What a node said when it last ran.
    pub fn output(&self, node: &str) -> Option<&Output> {
        self.outputs.get(node)
    }

    /// What each node said when it last ran, by its id.
    pub fn outputs(&self) -> &BTreeMap<String, Output> {
        &self.outputs
    }

    /// What was said last; before any node has spoken, the input.
    pub fn last(&self) -> &Output {
        self.last
            .as_ref()
            .and_then(|node| self.outputs.get(node))
            .unwrap_or(&self.input)
    }

    /// The calls of the model by all nodes together, in visits that came to an answer.
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// The tokens of all nodes together, as far as their clients say.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The thoughts of a `chain_of_thought` node when it last ran.
    pub fn reasoning(&self, node: &str) -> Option<&Reasoning> {
        self.reasonings.get(node)
    }

    /// The thoughts and calls of a `strategy` node when it last ran.
    pub fn solving(&self, node: &str) -> Option<&Solving> {
        self.solvings.get(node)
    }

    /// The state of a `subflow` node when it last ran.
    pub fn inside(&self, node: &str) -> Option<&FlowState> {
        self.inside.get(node)
    }

    /// Says something in the name of a node, and counts what it cost.
    pub fn put(&mut self, node: &str, output: Output) {
        self.calls = self.calls.saturating_add(output.calls);
        self.usage += output.usage;
        self.outputs.insert(node.to_owned(), output);
        self.last = Some(node.to_owned());
    }

    pub(crate) fn begin_reasoning(&mut self, node: &str, problem: String) {
        self.reasonings
            .insert(node.to_owned(), Reasoning::new(problem));
    }

    pub(crate) fn reasoning_mut(&mut self, node: &str) -> &mut Reasoning {
        self.reasonings
            .entry(node.to_owned())
            .or_insert_with(|| Reasoning::new(String::new()))
    }

    pub(crate) fn begin_solving(&mut self, node: &str, solving: Solving) {
        self.solvings.insert(node.to_owned(), solving);
    }

    pub(crate) fn solving_mut(
        &mut self,
        node: &str,
        unbegun: impl FnOnce() -> Solving,
    ) -> &mut Solving {
        self.solvings.entry(node.to_owned()).or_insert_with(unbegun)
    }

    pub(crate) fn begin_inside(&mut self, node: &str, input: Output) {
        self.inside.insert(
            node.to_owned(),
            Self {
                input,
                ..Self::default()
            },
        );
    }

    pub(crate) fn inside_mut(&mut self, node: &str) -> &mut Self {
        self.inside.entry(node.to_owned()).or_default()
    }
}
