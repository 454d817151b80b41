//! The strategies, for a model that chooses one.

use cogwork_strategies::{Strategies, Strategy};
use serde_json::{Value, json};

use crate::tool::fields_of;

/// Returns all strategies as text.
pub(crate) fn list_text(strategies: &Strategies) -> String {
    let lines = strategies.iter().map(|strategy| {
        let name = strategy.name();
        let description = strategy.description();
        format!("- {name}: {description}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns all strategies as data.
pub(crate) fn list_data(strategies: &Strategies) -> Value {
    let list = strategies.iter().map(|strategy| {
        json!({
            "name": strategy.name(),
            "aliases": strategy.names().skip(1).collect::<Vec<_>>(),
            "description": strategy.description(),
            "stages": strategy.stages().len(),
        })
    });
    json!({"strategies": list.collect::<Vec<_>>()})
}

/// Returns a strategy with all its stages as text.
pub(crate) fn text(strategy: &Strategy) -> String {
    let stages = strategy.stages().iter().map(|stage| {
        let next = match stage.next_names() {
            [] => "final".to_owned(),
            next => format!("then {}", next.join(" or ")),
        };
        format!("- {}: {} ({next})", stage.name(), stage.description())
    });
    let stages: Vec<String> = stages.collect();

    let name = strategy.name();
    let description = strategy.description();
    let stages = stages.join("\n");
    format!("{name}: {description}\n{stages}")
}

/// Returns a strategy with all its stages as data: its table, its name and a drawing.
pub(crate) fn data(strategy: &Strategy) -> Value {
    let mut fields = fields_of(strategy);
    fields.insert("name".to_owned(), strategy.name().into());
    fields.insert("mermaid".to_owned(), strategy.mermaid().into());
    Value::Object(fields)
}
