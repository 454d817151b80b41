//! The tools of a file: those of the program, and those of the servers that the file names.

use std::collections::BTreeMap;

#[cfg(not(feature = "mcp"))]
use cogwork_thinking::SettingProblem;
use cogwork_thinking::settings::read;
#[cfg(not(feature = "mcp"))]
use cogwork_tools::Tools;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value as Json;

use super::{Loading, items_at};
use crate::problems::item;

/// A server of tools that speaks the Model Context Protocol (MCP): either a command that is started
/// with the run, or a URL.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only checked"))]
pub(crate) struct ServerSettings {
    /// The name of the server, for errors.
    #[schemars(length(min = 1, max = 200), extend("x-environment" = false))]
    pub(super) name: String,
    /// The program that is started: one in PATH, an absolute path, or a path with a slash in the folder of this file or below.
    #[schemars(length(min = 1), extend("x-environment" = false))]
    pub(super) command: Option<String>,
    /// The arguments of the command.
    #[serde(default)]
    pub(super) args: Vec<String>,
    /// The environment variables of the command, in addition to a few such as PATH and HOME.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// The address of a server over HTTP.
    #[schemars(length(min = 1))]
    pub(super) url: Option<String>,
    /// The token for the server at the URL, which is sent as `Authorization: Bearer`.
    pub(super) token: Option<String>,
    /// The tools that nodes can name, by their names at the server.
    #[schemars(schema_with = "names")]
    pub(super) tools: Vec<String>,
    /// A text before the names of the tools, for nodes and models. Default: none.
    #[serde(default)]
    #[schemars(extend("x-environment" = false))]
    pub(super) prefix: String,
    /// The timeout of a call in seconds. Default: 30.
    #[schemars(range(min = 0.001, max = 31_536_000.0))]
    pub(super) timeout: Option<f64>,
    /// The timeout for the start of the server in seconds. Default: 60.
    #[schemars(range(min = 0.001, max = 31_536_000.0))]
    pub(super) start_timeout: Option<f64>,
}

fn names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "minItems": 1,
        "items": {"type": "string", "x-environment": false},
    })
}

impl Loading<'_> {
    /// Adds the tools of the servers that a file names to those of its source. No server is started.
    pub(super) fn add_tools(&mut self, file: &Json) {
        let Some(servers) = file.get("tools") else {
            return;
        };

        for (index, server) in items_at(servers, "mcp").iter().enumerate() {
            let path = item("tools.mcp", index);
            // It is started in the folder of the file.
            self.names_files |= server.get("command").is_some();
            if self.source.problems.any_in(&path) {
                self.source.has_unknown_tools = true;
                continue;
            }

            let settings = read::<ServerSettings>(server);
            match settings.and_then(|settings| self.tools_with(settings)) {
                Ok(tools) => self.source.tools = tools,
                Err(problem) => {
                    self.source.has_unknown_tools = true;
                    let problem = problem.below(&path);
                    self.push(problem.path(), problem.message());
                }
            }
        }
    }

    #[cfg(not(feature = "mcp"))]
    fn tools_with(&mut self, _: ServerSettings) -> Result<Tools, SettingProblem> {
        let problem = "this program was built without MCP servers; build it with the feature `mcp`, or remove the server";
        Err(SettingProblem::new(problem))
    }
}
