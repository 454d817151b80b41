//! The tools of a file: those of the program, and those of the servers that the file names.

use std::collections::BTreeSet;

use cogwork_tools::Tools;

use super::file_tools::FileTools;
use super::loading::{Loading, Source};
use crate::SettingProblem;
use crate::problem::{Found, Problems};
use crate::yaml::{Path, Tree};

/// Returns the names of the tools that a file adds, or `None` if a server is malformed.
pub(super) fn names_of_tools(tree: &Tree) -> Option<Vec<String>> {
    let servers = tree.get("tools").and_then(|tools| tools.get("mcp"));
    let Some(servers) = servers else {
        return Some(Vec::new());
    };

    let mut names = BTreeSet::new();
    for server in servers.items() {
        let prefix = match server.get("prefix") {
            None => "",
            Some(prefix) => prefix.text()?,
        };
        for name in server.get("tools")?.items() {
            // The names that models may use.
            let name = name.text()?.replace(['.', '/'], "_");
            names.insert(format!("{prefix}{name}"));
        }
    }
    Some(names.into_iter().collect())
}

impl Loading<'_> {
    /// Returns the tools for the nodes of a file. No server is started.
    pub(super) fn tools_of(
        &mut self,
        source: &Source,
        tree: &Tree,
        found: &mut Problems,
    ) -> FileTools {
        let mut tools = source.tools.clone();
        let path = Path::default().key("tools").key("mcp");
        let servers = tree.get("tools").and_then(|tools| tools.get("mcp"));
        let Some(servers) = servers.filter(|servers| !servers.items().is_empty()) else {
            return tools;
        };

        for (index, server) in servers.items().iter().enumerate() {
            let path = path.index(index);
            if found.any_in(&path) {
                tools.has_unknown = true;
                continue;
            }

            match self.server(source, &tools.tools, server) {
                Ok(with) => tools.tools = with,
                Err(problem) => {
                    tools.has_unknown = true;
                    let below = Path::default().below(problem.path());
                    let place = server.nearest_to(&below).place;
                    let path = path.below(problem.path());
                    found.push(Found::new(place, &path, problem.message()));
                }
            }
        }

        tools
    }

    /// Adds the tools of a server.
    #[cfg(not(feature = "mcp"))]
    fn server(&mut self, _: &Source, _: &Tools, _: &Tree) -> Result<Tools, SettingProblem> {
        Err(SettingProblem::new(
            "this program was built without MCP servers; build it with the feature `mcp`, or remove the server",
        ))
    }

    /// Adds the tools of a server.
    #[cfg(feature = "mcp")]
    fn server(
        &mut self,
        source: &Source,
        tools: &Tools,
        tree: &Tree,
    ) -> Result<Tools, SettingProblem> {
        let settings = crate::settings::typed(tree.to_json())?;
        let server = super::server::server(source, settings)?;
        let names = tree.get("tools").map(Tree::items).unwrap_or_default().len();

        let unconnected = server.unconnected();
        let of_server = unconnected.tools();
        if of_server.len() != names {
            let problem = "a name is not valid with its prefix; expected at most 64 letters, digits, `_`, `-`, `.` and `/`";
            return Err(SettingProblem::new(problem).at("tools"));
        }

        if self.loader.connects() {
            self.servers.push(unconnected);
        }
        let mut numbered = of_server.into_iter().enumerate();
        numbered.try_fold(tools.clone(), |tools, (index, tool)| {
            tools.with(tool).map_err(|error| {
                let problem = format!("{error}, or a `prefix` for this server");
                SettingProblem::new(problem).at(format!("tools[{index}]"))
            })
        })
    }
}
