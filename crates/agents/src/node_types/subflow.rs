use cogwork_flow::Action;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value as Json;

use super::inside::{Inside, filled};
use crate::load::Assembled;
use crate::settings::SettingProblem;
use crate::{FlowState, Made, Making, NodeType};

/// A flow as a node: from a file, or described here.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The file of the flow, in the folder of this file or below.
    #[schemars(extend("x-environment" = false))]
    file: Option<String>,
    /// The input of the flow, with slots: {input}, {last}, and the id of any node. Default: {last}, the last output.
    prompt: Option<String>,
    /// The nodes of a flow that is described here.
    #[serde(default)]
    #[schemars(schema_with = "nodes")]
    nodes: Option<Json>,
    /// The edges of a flow that is described here.
    #[serde(default)]
    #[schemars(schema_with = "edges")]
    edges: Option<Json>,
    /// The answer of a flow that is described here, with slots for its nodes. Default: {last}.
    answer: Option<String>,
    /// The start of a flow that is described here. Default: its first node.
    #[schemars(extend("x-environment" = false))]
    start: Option<String>,
}

fn nodes(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"$ref": "#/$defs/nodes"})
}

fn edges(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"$ref": "#/$defs/edges"})
}

pub(super) fn node_type() -> NodeType {
    NodeType::new("subflow", "A whole flow in the place of a node.", make)
}

fn make(settings: Settings, making: &mut Making<'_, '_>) -> Result<Made, Vec<SettingProblem>> {
    let prompt = making.prompt(settings.prompt)?;
    let flow = match (settings.file, settings.nodes) {
        (Some(_), None)
            if settings.edges.is_some()
                || settings.start.is_some()
                || settings.answer.is_some() =>
        {
            let message = "`edges`, `start` and `answer` belong to a flow that is described here; move them to the file";
            return Err(SettingProblem::new(message).into());
        }
        (Some(file), None) => {
            let flow = making.flow_of_file(&file);
            flow.map_err(|message| SettingProblem::new(message).at("file"))?
        }
        (None, Some(_)) => making.flow_here(),
        _ => return Err(SettingProblem::new("expected either `file` or `nodes`").into()),
    };

    // The problems inside have already been reported.
    let Some(Assembled { flow, answer }) = flow else {
        return Err(Vec::new());
    };

    let inside = Inside {
        id: making.id().into(),
        prompt,
        flow,
        leave: Action::clone,
    };

    inside.made(
        FlowState::begin_inside,
        FlowState::inside_mut,
        move |state, id| {
            let inside = state.inside_mut(id);
            let output = filled(&answer, "answer", inside)?;
            Ok(inside.visit_around(id, output))
        },
    )
}
