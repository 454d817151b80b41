//! The node types that are part of the crate.

mod agent;
mod chain_of_thought;
mod inside;
mod labels;
mod step;
mod strategy;
mod subflow;
mod wait;

use cogwork_thinking::Registry;

use crate::load::BRANCHES;
use crate::loader::NodeType;

pub(crate) fn built_in() -> Registry<NodeType> {
    let mut types = Registry::of("node type");
    types.insert::<agent::Settings>(
        "agent",
        "A model with a role, which may call tools and choose an action.",
        NodeType::new(agent::make).with_client(),
    );
    types.insert::<chain_of_thought::Settings>(
        "chain_of_thought",
        "Reasoning in steps: plans, judges its last thought, does the next step, and concludes.",
        NodeType::new(chain_of_thought::make).with_client(),
    );
    types.insert::<strategy::Settings>(
        "strategy",
        "A reasoning strategy, worked through stage by stage.",
        NodeType::new(strategy::make).with_client(),
    );
    types.insert::<step::TextSettings>(
        "template",
        "A text with slots, without a model.",
        NodeType::new(step::template),
    );
    types.insert::<step::ToolSettings>(
        "tool",
        "A call of a tool, without a model.",
        NodeType::new(step::tool),
    );
    types.insert::<wait::Settings>(
        "wait",
        "A pause until a person or another program answers. The answer is the output.",
        NodeType::new(wait::make),
    );
    types.insert::<subflow::Subflow>(
        "subflow",
        "A whole flow in the place of a node.",
        NodeType::new(subflow::subflow),
    );
    types.insert::<subflow::Map>(
        "map",
        "A flow for each item of a list. The output is the list of answers, as JSON.",
        NodeType::new(subflow::map),
    );
    types.insert::<subflow::BranchSettings>(
        BRANCHES,
        "Nodes that run side by side, on the same input.",
        NodeType::new(subflow::side_by_side),
    );

    types
}
