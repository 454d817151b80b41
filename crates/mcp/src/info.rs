//! What clients read about the server first.

use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};

use crate::builder::ServerBuilder;
use crate::tools::ServerTools;

/// Which tool is for what.
const INSTRUCTIONS: &str = include_str!("instructions.md");

/// Returns the name, the capabilities and the instructions.
pub(crate) fn info(settings: &ServerBuilder, tools: &ServerTools) -> ServerConfig {
    let mut info = ServerConfig::new(capabilities(tools));
    info.server_info = Implementation::new(&settings.name, &settings.version);
    info.instructions = tools.has_built_in_ones().then(|| instructions(tools));
    info
}

fn capabilities(tools: &ServerTools) -> ServerCapabilities {
    if !tools.has_built_in_ones() {
        return ServerCapabilities::builder().enable_tools().build();
    }

    ServerCapabilities::builder()
        .enable_tools()
        .enable_prompts()
        .enable_completions()
        .enable_resources()
        .enable_tasks()
        .build()
}

/// Returns the instructions without the lines about tools that this server doesn't have.
fn instructions(tools: &ServerTools) -> String {
    let is_about_listed = |line: &&str| match line.strip_prefix("- `") {
        Some(line) => {
            let name = line.split('`').next();
            name.is_some_and(|name| tools.lists_built_in(name))
        }
        None => true,
    };
    let lines: Vec<_> = INSTRUCTIONS
        .trim()
        .lines()
        .filter(is_about_listed)
        .collect();
    lines.join("\n")
}
