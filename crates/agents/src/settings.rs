//! Settings as Rust types: their JSON Schema, and their values after the check.

use std::time::Duration;

use cogwork_llm::{ChatRequest, Effort};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use crate::quote::one_line;

/// A problem with the settings of a node or provider that the schema of their type doesn't detect.
///
/// ```
/// use cogwork_agents::SettingProblem;
///
/// let problem = SettingProblem::new("expected a folder that exists").at("output.folder");
/// assert_eq!(problem.path(), "output.folder");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingProblem {
    path: String,
    message: String,
}

impl SettingProblem {
    /// Creates a problem of the settings as a whole. The message should describe what is wrong and
    /// what is expected instead.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            message: one_line(message.into()),
        }
    }

    /// Sets the path of the setting, such as `rounds` or `criteria[2].name`.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Returns the path of the setting, which is empty for the settings as a whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns what is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<SettingProblem> for Vec<SettingProblem> {
    fn from(problem: SettingProblem) -> Self {
        vec![problem]
    }
}

/// Returns the complete schema of a type, without its title.
pub(crate) fn schema_of<C: JsonSchema>() -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<C>();
    schema.remove("title");

    schema.to_value()
}

pub(crate) fn properties(schema: &Json) -> Option<&Map<String, Json>> {
    schema.get("properties").and_then(Json::as_object)
}

/// Creates the settings from values that match the schema.
pub(crate) fn typed<C: DeserializeOwned>(values: Json) -> Result<C, SettingProblem> {
    serde_json::from_value(values).map_err(|error| SettingProblem::new(error.to_string()))
}

/// Removes and returns the values that a schema lists.
pub(crate) fn take(values: &mut Map<String, Json>, schema: &Json) -> Json {
    let names = properties(schema).into_iter().flat_map(Map::keys);
    let taken = names.filter_map(|name| Some((name.clone(), values.remove(name)?)));
    Json::Object(taken.collect())
}

pub(crate) fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

fn efforts(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": Effort::ALL.map(Effort::as_str)})
}

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

impl RequestSettings {
    pub(crate) fn request(self) -> ChatRequest {
        let mut request = ChatRequest::default().with_stop(self.stop);
        if let Some(temperature) = self.temperature {
            request = request.with_temperature(temperature);
        }

        if let Some(tokens) = self.max_tokens {
            request = request.with_max_tokens(tokens);
        }

        if let Some(effort) = self.effort {
            request = request.with_effort(effort);
        }

        match self.seed {
            Some(seed) => request.with_seed(seed),
            None => request,
        }
    }
}
