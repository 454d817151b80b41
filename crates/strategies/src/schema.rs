//! JSON Schema (draft 2020-12) of the thoughts in each stage.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{Parameter, ParameterType, Stage, Strategy};

impl Strategy {
    /// Returns the JSON Schema (draft 2020-12) of a thought in this strategy, for prompts and for
    /// clients that constrain a model's reply to a schema.
    ///
    /// The schema doesn't express which stage may follow which, since that depends on the previous
    /// thought.
    pub fn json_schema(&self) -> Value {
        of_strategy(self)
    }
}

fn of_strategy(strategy: &Strategy) -> Value {
    let names: Vec<&str> = strategy.stages().iter().map(|stage| stage.name()).collect();
    let per_stage: Vec<Value> = strategy
        .stages()
        .iter()
        .filter(|stage| !stage.parameters().is_empty())
        .map(|stage| {
            let mut then = json!({"properties": {"parameters": of_parameters(stage.parameters())}});
            if stage.parameters().values().any(Parameter::is_required) {
                insert(&mut then, "required", json!(["parameters"]));
            }

            json!({"if": {"properties": {"stage": {"const": stage.name()}}}, "then": then})
        })
        .collect();

    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": strategy.name(),
        "description": strategy.description(),
        "type": "object",
        "properties": {
            "stage": {
                "enum": names,
                "description": stages_described(strategy),
            },
            "thought": {"type": "string", "description": "The text of the thought."},
            "parameters": {"type": "object", "description": "What a thought in this stage carries."},
            "revises": {"type": "integer", "minimum": 1, "description": "The earlier thought that this one takes the place of."},
            "total_thoughts": {"type": "integer", "minimum": 1, "description": "How many thoughts will be needed, as far as is known."},
            "needs_more_thoughts": {"type": "boolean", "description": "Whether more thoughts are needed than were expected."},
            "next_thought_needed": {"type": "boolean", "description": "Whether another thought follows."},
        },
        "required": ["stage", "thought"],
        "additionalProperties": false,
    });

    if !per_stage.is_empty() {
        insert(&mut schema, "allOf", Value::Array(per_stage));
    }

    schema
}

fn stages_described(strategy: &Strategy) -> String {
    let line = |stage: &Stage| match stage.next_names() {
        [] => format!("{}: {} Nothing follows.", stage.name(), stage.description()),
        next => format!(
            "{}: {} Then {}.",
            stage.name(),
            stage.description(),
            next.join(" or ")
        ),
    };
    strategy
        .stages()
        .iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

fn of_parameters(parameters: &BTreeMap<String, Parameter>) -> Value {
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|(name, parameter)| (name.clone(), of_parameter(parameter)))
        .collect();
    let required: Vec<&String> = parameters
        .iter()
        .filter(|(_, parameter)| parameter.is_required())
        .map(|(name, _)| name)
        .collect();

    let mut schema =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        insert(&mut schema, "required", json!(required));
    }

    schema
}

fn of_parameter(parameter: &Parameter) -> Value {
    let mut schema = of_type(parameter.kind());
    if !parameter.description().is_empty() {
        insert(&mut schema, "description", json!(parameter.description()));
    }

    schema
}

fn of_type(kind: &ParameterType) -> Value {
    let mut schema = match kind {
        ParameterType::Text { .. } => json!({"type": "string"}),
        ParameterType::Integer { .. } => json!({"type": "integer"}),
        ParameterType::Number { .. } => json!({"type": "number"}),
        ParameterType::Boolean => json!({"type": "boolean"}),
        ParameterType::Thought => json!({"type": "integer", "minimum": 1}),
        ParameterType::List { items, .. } => json!({"type": "array", "items": of_type(items)}),
        ParameterType::Object { fields } => of_parameters(fields),
        ParameterType::Map { values } => {
            json!({"type": "object", "additionalProperties": of_type(values)})
        }
        ParameterType::Any => json!({}),
    };

    match kind {
        ParameterType::Text { choices } if !choices.is_empty() => {
            insert(&mut schema, "enum", json!(choices))
        }
        ParameterType::Integer { min, max } | ParameterType::Number { min, max } => {
            min.iter()
                .for_each(|min| insert(&mut schema, "minimum", number(*min)));
            max.iter()
                .for_each(|max| insert(&mut schema, "maximum", number(*max)));
        }
        ParameterType::List { min_items, .. } if *min_items > 0 => {
            insert(&mut schema, "minItems", json!(min_items));
        }
        _ => {}
    }

    schema
}

/// Writes an integer as `10` rather than `10.0`, which some programs don't accept as an integer.
fn number(number: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be an integer that a double holds exactly"
    )]
    if number.fract() == 0.0 && number.abs() < 9e15 {
        json!(number as i64)
    } else {
        json!(number)
    }
}

fn insert(schema: &mut Value, key: &str, value: Value) {
    if let Value::Object(schema) = schema {
        schema.insert(key.to_owned(), value);
    }
}
