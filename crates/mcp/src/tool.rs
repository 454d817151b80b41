//! The interface between the server and its tools.

use std::sync::Arc;

use async_trait::async_trait;
use cogwork_tools::schemars::JsonSchema;
use cogwork_tools::schemars::generate::SchemaSettings;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::connection::Connection;
use crate::store::StoreError;

/// A tool of the server.
#[async_trait]
pub(crate) trait ServerTool: Send + Sync {
    /// Returns the name, the description and the schemas. Called once.
    fn definition(&self) -> Tool;

    /// Returns whether clients see the tool. One that isn't listed explains why when it is called.
    fn is_listed(&self) -> bool {
        true
    }

    /// Returns the result of a call.
    ///
    /// # Errors
    ///
    /// Returns a [`ToolFailure`], which the model reads.
    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure>;
}

/// A tool with its definition.
pub(crate) struct ListedTool {
    pub(crate) definition: Tool,
    pub(crate) tool: Box<dyn ServerTool>,
}

/// A call of a tool.
pub(crate) struct ToolCall<'a> {
    /// The arguments, which are not checked yet.
    pub(crate) arguments: JsonObject,
    /// The connection to the caller.
    pub(crate) connection: &'a Connection,
    /// The request, for progress notifications and cancellation.
    pub(crate) context: &'a RequestContext<RoleServer>,
}

/// The failure of a call.
#[derive(Debug)]
pub(crate) enum ToolFailure {
    /// The model can correct it: a result with `isError`.
    Message(String),
    /// The same, with data in addition to the text.
    Described {
        /// The text.
        message: String,
        /// The data, which repeats the message.
        data: Value,
    },
}

impl ToolFailure {
    pub(crate) fn message(message: impl std::fmt::Display) -> Self {
        Self::Message(message.to_string())
    }

    /// Returns a failure with a kind, by which programs recognise it.
    pub(crate) fn of_kind(kind: &str, message: impl std::fmt::Display) -> Self {
        let message = message.to_string();
        let data = json!({"error": {"kind": kind, "message": message}});
        Self::Described { message, data }
    }

    /// Returns the result to send.
    pub(crate) fn into_response(self) -> CallToolResponse {
        match self {
            Self::Message(message) => CallToolResult::error(vec![ContentBlock::text(message)]),
            Self::Described { message, data } => {
                let mut result = CallToolResult::error(vec![ContentBlock::text(message)]);
                result.structured_content = Some(data);
                result
            }
        }
        .into()
    }
}

impl From<StoreError> for ToolFailure {
    fn from(error: StoreError) -> Self {
        Self::message(error)
    }
}

/// Returns a tool that records something with each call.
pub(crate) fn tool(
    name: &'static str,
    title: &str,
    description: impl Into<String>,
    input: JsonObject,
) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(false);
    Tool::new(name, description.into(), input)
        .with_title(title)
        .with_annotations(annotations)
}

/// Sets what a property of the arguments may be. Returns its schema.
pub(crate) fn set_choices<'a>(
    input: &'a mut JsonObject,
    property: &str,
    choices: Vec<String>,
) -> Option<&'a mut JsonObject> {
    let properties = input.get_mut("properties")?;
    let schema = properties.get_mut(property)?.as_object_mut()?;
    schema.insert("enum".to_owned(), choices.into());
    Some(schema)
}

/// Returns a result with a text and data.
pub(crate) fn described(text: impl Into<String>, data: Value) -> CallToolResponse {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text.into())]);
    result.structured_content = Some(data);
    result.into()
}

/// Returns the fields of a type that serialises as an object.
pub(crate) fn fields_of(data: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(data) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Returns the JSON Schema of arguments or of the data in a result, without references, which not
/// every host follows.
pub(crate) fn schema_of<T: JsonSchema>() -> Arc<JsonObject> {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();

    let mut schema = schema.to_value();
    simplify(&mut schema);
    match schema {
        Value::Object(mut schema) => {
            // The tool has a description.
            schema.remove("description");
            Arc::new(schema)
        }
        _ => Arc::default(),
    }
}

/// Removes what models have no use for, such as that an argument which isn't required may be null.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(simplify),
        Value::Object(fields) => {
            if let Some(Value::Array(mut either)) = fields.remove("anyOf") {
                either.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
                if let Some(Value::Object(only)) = either.pop() {
                    // A description of the field says more than that of its type.
                    let only = only.into_iter().filter(|(name, _)| name != "description");
                    fields.extend(only);
                }
            }
            if let Some(Value::Array(kinds)) = fields.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [only] = &kinds[..] {
                    let only = only.clone();
                    fields.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = fields.get_mut("enum") {
                choices.retain(|choice| !choice.is_null());
            }

            if let Some(Value::String(description)) = fields.get_mut("description") {
                *description = description.replace('\n', " ");
            }
            fields.retain(|name, value| match name.as_str() {
                "$schema" | "title" | "format" => !value.is_string(),
                "default" => ![json!(null), json!(""), json!(false), json!({})].contains(value),
                _ => true,
            });
            fields.values_mut().for_each(simplify);
        }
        _ => {}
    }
}
