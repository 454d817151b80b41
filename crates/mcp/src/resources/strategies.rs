//! Strategies as texts, drawings and data.

use std::fmt::Write;

use cogwork_strategies::{Parameter, Stage, Strategy};
use rmcp::ErrorData;

use super::SessionFormat;

/// Returns a strategy as a text.
pub(super) fn render(strategy: &Strategy, format: SessionFormat) -> Result<String, ErrorData> {
    match format {
        SessionFormat::Markdown => Ok(text_of(strategy)),
        SessionFormat::Mermaid => Ok(strategy.mermaid()),
        SessionFormat::Json => serde_json::to_string_pretty(strategy)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None)),
    }
}

fn text_of(strategy: &Strategy) -> String {
    let name = strategy.name();
    let description = strategy.description();
    let start = strategy.start().name();
    let mut text = format!("# `{name}`\n\n{description}\n\nIt starts in `{start}`.\n");

    for stage in strategy.stages() {
        text.push('\n');
        text.push_str(&text_of_stage(stage));
    }
    text
}

/// Returns a stage as a text: what it is for, its prompt, what it needs, and what may follow.
pub(crate) fn text_of_stage(stage: &Stage) -> String {
    let mut text = format!("## `{}`\n\n{}\n\n", stage.name(), stage.description());
    // Writing to a text doesn't fail.
    let _ = writeln!(text, "Prompt: {}", stage.prompt());

    if !stage.parameters().is_empty() {
        text.push('\n');
    }
    for (name, parameter) in stage.parameters() {
        let _ = writeln!(text, "- {}", parameter_line(name, parameter));
    }

    let next: Vec<_> = stage
        .next_names()
        .iter()
        .map(|name| format!("`{name}`"))
        .collect();
    let next = if stage.is_final() {
        "The strategy ends here.".to_owned()
    } else {
        format!("Next: {}.", next.join(", "))
    };
    let _ = writeln!(text, "\n{next}");
    text
}

/// Returns a parameter on one line, such as ``action` (required): What to do.``
pub(crate) fn parameter_line(name: &str, parameter: &Parameter) -> String {
    let required = if parameter.is_required() {
        "required"
    } else {
        "optional"
    };
    let description = parameter.description();
    format!("`{name}` ({required}): {description}")
}
