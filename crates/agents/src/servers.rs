//! The settings of tool servers in files.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// A server of tools that speaks the Model Context Protocol (MCP): either a command that is started
/// with the run, or a URL.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only checked"))]
pub(crate) struct ServerSettings {
    /// The name of the server, for errors.
    #[schemars(length(min = 1, max = 200), extend("x-environment" = false))]
    pub(crate) name: String,
    /// The program that is started: one in PATH, an absolute path, or a path with a slash in the folder of this file or below.
    #[schemars(length(min = 1), extend("x-environment" = false))]
    pub(crate) command: Option<String>,
    /// The arguments of the command.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// The environment variables of the command, in addition to a few such as PATH and HOME.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// The working directory of the command, in the folder of this file or below. Default: the folder of this file.
    #[schemars(length(min = 1), extend("x-environment" = false))]
    pub(crate) folder: Option<String>,
    /// The address of a server over HTTP.
    #[schemars(length(min = 1))]
    pub(crate) url: Option<String>,
    /// The token for the server at the URL, which is sent as `Authorization: Bearer`.
    pub(crate) token: Option<String>,
    /// The tools that nodes can name, by their names at the server.
    #[schemars(schema_with = "names")]
    pub(crate) tools: Vec<String>,
    /// A text before the names of the tools, for nodes and models. Default: none.
    #[serde(default)]
    #[schemars(extend("x-environment" = false))]
    pub(crate) prefix: String,
    /// The timeout of a call in seconds. Default: 30.
    #[schemars(range(min = 0.001, max = 31_536_000.0))]
    pub(crate) timeout: Option<f64>,
    /// The timeout for the start of the server in seconds. Default: 60.
    #[schemars(range(min = 0.001, max = 31_536_000.0))]
    pub(crate) start_timeout: Option<f64>,
}

fn names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "minItems": 1,
        "items": {"type": "string", "x-environment": false},
    })
}
