//! Typed functions as tools of the server.

use std::borrow::Cow;
use std::sync::Arc;

use cogwork_text::MultiLine;
use cogwork_tools::schemars::JsonSchema;
use cogwork_tools::schemars::generate::SchemaSettings;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments::Arguments;
use crate::connection::Connection;
use crate::failure::Failure;

/// A tool with its definition.
pub(crate) struct ServerTool {
    pub(crate) definition: Tool,
    call: Box<dyn Fn(JsonObject, Caller) -> Called + Send + Sync>,
}

type Called = BoxFuture<'static, Result<CallToolResult, Failure>>;

/// Who calls a tool.
pub(crate) struct Caller {
    pub(crate) connection: Arc<Connection>,
    /// The request, for progress notifications and cancellation.
    pub(crate) request: RequestContext<RoleServer>,
}

impl ServerTool {
    /// Returns a tool that passes its arguments on as they are.
    pub(crate) fn new<R>(
        definition: Tool,
        call: impl Fn(JsonObject, Caller) -> R + Send + Sync + 'static,
    ) -> Self
    where
        R: Future<Output = Result<CallToolResult, Failure>> + Send + 'static,
    {
        Self {
            definition,
            call: Box::new(move |arguments, caller| call(arguments, caller).boxed()),
        }
    }

    /// Returns a tool that is a function of arguments of a type, and returns a text.
    pub(crate) fn function<A, R>(
        definition: Tool,
        max_bytes: usize,
        call: impl Fn(A, Caller) -> R + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        R: Future<Output = Result<String, Failure>> + Send + 'static,
    {
        let arguments = Arguments::<A>::new(&definition.input_schema, max_bytes);
        Self::new(definition, move |given, caller| {
            let called = arguments.read(&given).map(|read| call(read, caller));
            async move { Ok(text(&called?.await?)) }
        })
    }

    /// Returns the result of a call. A failure is a result that the model reads.
    pub(crate) async fn call(&self, arguments: JsonObject, caller: Caller) -> CallToolResult {
        let result = (self.call)(arguments, caller).await;
        result.unwrap_or_else(|failure| {
            let message = MultiLine::new(failure).to_string();
            CallToolResult::error(vec![ContentBlock::text(message)])
        })
    }
}

/// Returns a result that is safe to print.
pub(crate) fn text(text: &str) -> CallToolResult {
    let text = MultiLine::new(text).to_string();
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// Returns the definition of a tool that records something with each call.
pub(crate) fn definition<A: JsonSchema>(
    name: &'static str,
    title: &str,
    description: impl Into<Cow<'static, str>>,
) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(false);
    Tool::new(name, description, schema_of::<A>())
        .with_title(title)
        .with_annotations(annotations)
}

/// Sets a keyword in the schema of an argument.
pub(crate) fn set_keyword(tool: &mut Tool, argument: &str, keyword: &str, value: Value) {
    let schema = Arc::make_mut(&mut tool.input_schema);
    let properties = schema.get_mut("properties");
    let argument = properties.and_then(|properties| properties.get_mut(argument)?.as_object_mut());
    if let Some(argument) = argument {
        argument.insert(keyword.to_owned(), value);
    }
}

/// Returns the JSON Schema of a type, without references, which not every host follows, and without
/// what models have no use for.
pub(crate) fn schema_of<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        // Some hosts pass schemas on without following references.
        settings.inline_subschemas = true;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();

    let mut schema = schema.to_value();
    simplify(&mut schema);
    match schema {
        Value::Object(mut schema) => {
            // The tool has a description.
            schema.remove("description");
            schema
        }
        _ => JsonObject::new(),
    }
}

/// Removes titles and formats, and that an argument which isn't required may be null.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(simplify),
        Value::Object(fields) => {
            if let Some(Value::Array(either)) = fields.remove("anyOf")
                && let Some(Value::Object(only)) = either.into_iter().next()
            {
                // A description of the field says more than that of its type.
                let only = only.into_iter().filter(|(name, _)| name != "description");
                fields.extend(only);
            }
            if let Some(Value::Array(kinds)) = fields.get("type")
                && let [kind, Value::String(null)] = &kinds[..]
                && null == "null"
            {
                let kind = kind.clone();
                fields.insert("type".to_owned(), kind);
            }
            if let Some(Value::Array(choices)) = fields.get_mut("enum") {
                choices.retain(|choice| !choice.is_null());
            }
            if let Some(Value::String(description)) = fields.get_mut("description") {
                *description = description.replace('\n', " ");
            }

            fields.retain(|name, value| match name.as_str() {
                "title" | "format" => !value.is_string(),
                "default" => !value.is_null(),
                _ => true,
            });
            fields.values_mut().for_each(simplify);
        }
        _ => {}
    }
}
