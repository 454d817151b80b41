//! Describes tools in a text, for models without native tools.

use cogwork_tools::Tools;

/// Returns a line for each tool, with its name, its description and its schema.
pub(super) fn tool_list(tools: &Tools) -> String {
    let mut lines = String::new();

    for tool in tools.definitions() {
        let name = tool.name();
        let description = tool.description();
        let schema = tool.input_schema();
        lines.push_str(&format!(
            "\n- {name}: {description} Its input is JSON of this schema: {schema}"
        ));
    }

    lines
}
