//! The node types that are part of the crate.

mod agent;
mod chain_of_thought;
mod inside;
mod labels;
mod step;
mod strategy;
mod subflow;
mod wait;

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::NodeType;

pub(crate) fn built_in() -> Vec<NodeType> {
    let single = [
        agent::node_type(),
        chain_of_thought::node_type(),
        strategy::node_type(),
        wait::node_type(),
    ];
    let others = step::node_types().into_iter().chain(subflow::node_types());
    single.into_iter().chain(others).collect()
}

/// A setting that several node types have.
pub(crate) const PROMPT: &str = "prompt";

fn tool(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"$ref": "#/$defs/tool"})
}

fn tools(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"$ref": "#/$defs/tools"})
}
