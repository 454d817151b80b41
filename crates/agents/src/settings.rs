//! Settings that several parts of a file have.

use std::time::Duration;

use cogwork_llm::{ChatRequest, Effort};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

/// The settings of every request.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestSettings {
    /// The sampling temperature; 0 selects the most likely reply. Default: that of the server.
    #[schemars(range(min = 0.0, max = 5.0))]
    temperature: Option<f32>,
    /// The maximum number of tokens of a reply. Default: that of the server.
    #[schemars(range(min = 1), extend("x-also" = ["max_output_tokens", "max_completion_tokens", "max_length"]))]
    max_tokens: Option<u32>,
    /// How much the model thinks before it replies. Default: that of the model.
    #[serde(default)]
    #[schemars(schema_with = "efforts", extend("x-also" = ["reasoning_effort"]))]
    effort: Option<Effort>,
    /// The seed of the sampling, for servers that support it. Default: a new one for each call.
    seed: Option<u64>,
    /// Texts that end a reply. Default: none.
    #[serde(default)]
    stop: Vec<String>,
}

fn efforts(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": Effort::ALL.map(Effort::as_str)})
}

impl RequestSettings {
    pub(crate) fn request(self) -> ChatRequest {
        ChatRequest::default()
            .with_temperature(self.temperature)
            .with_max_tokens(self.max_tokens)
            .with_effort(self.effort)
            .with_seed(self.seed)
            .with_stop(self.stop)
    }
}

pub(crate) fn properties(schema: &Json) -> Option<&Map<String, Json>> {
    schema.get("properties").and_then(Json::as_object)
}

/// Returns the settings that a schema lists.
pub(crate) fn part_of(settings: &Json, schema: &Json) -> Json {
    let names = properties(schema).into_iter().flat_map(Map::keys);
    let part = names.filter_map(|name| Some((name.clone(), settings.get(name)?.clone())));
    Json::Object(part.collect())
}

pub(crate) fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}
