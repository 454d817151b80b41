use std::future::Future;
use std::marker::PhantomData;

use async_trait::async_trait;
use cogwork_llm::ToolDefinition;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ToolError;

/// Something a model may have done for it. Typed functions become tools by [`function`]; implement the
/// trait for tools whose input is known only at run time.
///
/// A call may be dropped at any `await`: a limit of time, a run that is given up. Work that keeps the thread
/// for long belongs elsewhere, such as on `tokio::task::spawn_blocking`: no limit can end what does not wait.
///
/// ```
/// use cogwork_llm::ToolDefinition;
/// use cogwork_tools::{Tool, ToolError, async_trait};
/// use serde_json::Value;
///
/// struct Echo;
///
/// #[async_trait]
/// impl Tool for Echo {
///     fn definition(&self) -> ToolDefinition {
///         ToolDefinition::new("echo", "Says its input again.", r#"{"type": "object"}"#)
///     }
///
///     async fn call(&self, input: Value) -> Result<String, ToolError> {
///         Ok(input.to_string())
///     }
/// }
/// ```
#[async_trait]
pub trait Tool: Send + Sync {
    /// Name, description and JSON Schema of the input, for the model.
    fn definition(&self) -> ToolDefinition;

    /// Does it. What it gives back is read by the model.
    ///
    /// # Errors
    ///
    /// [`ToolError::input`] for input that is not right, [`ToolError::failed`] for the rest. The model
    /// reads them too.
    async fn call(&self, input: Value) -> Result<String, ToolError>;
}

#[async_trait]
impl<T: Tool + ?Sized> Tool for Box<T> {
    fn definition(&self) -> ToolDefinition {
        (**self).definition()
    }

    async fn call(&self, input: Value) -> Result<String, ToolError> {
        (**self).call(input).await
    }
}

/// A tool made of an async function. The JSON Schema of its input is that of `A`, with the doc comments of
/// its fields as descriptions; unknown fields are as `A` has it (`#[serde(deny_unknown_fields)]`).
///
/// See the [front page](crate) for an example.
pub fn function<A, F, R>(name: &str, description: &str, call: F) -> impl Tool + use<A, F, R>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A) -> R + Send + Sync + 'static,
    R: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    let schema = input_schema::<A>();
    Function {
        definition: ToolDefinition::new(name, description, schema),
        call,
        input: PhantomData,
    }
}

/// Without `$schema`, `$defs` and the type's name, and always of an object: some servers refuse anything else.
fn input_schema<A: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    schema.remove("title");

    if schema.get("type").is_none() {
        schema.insert("type".to_owned(), "object".into());
    }

    schema.to_value().to_string()
}

struct Function<A, F> {
    definition: ToolDefinition,
    call: F,
    input: PhantomData<fn(A)>,
}

#[async_trait]
impl<A, F, R> Tool for Function<A, F>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A) -> R + Send + Sync + 'static,
    R: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    async fn call(&self, input: Value) -> Result<String, ToolError> {
        let input = serde_json::from_value(input).map_err(ToolError::input)?;
        (self.call)(input).await
    }
}
