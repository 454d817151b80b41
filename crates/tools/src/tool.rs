use std::future::Future;
use std::marker::PhantomData;

use async_trait::async_trait;
use cogwork_llm::ToolDefinition;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{ToolError, schema_of};

/// A tool that a model can call.
///
/// [`function`] turns a typed function into a tool. Implement this trait for tools whose input is
/// only known at run time. Implementations need the attribute [`async_trait`](crate::async_trait);
/// without it, the compiler reports error E0195.
///
/// A call can be dropped at any `await`, for example because of a timeout or because the run is
/// cancelled. Move blocking work to `tokio::task::spawn_blocking`, because a timeout can't
/// interrupt it.
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
    /// Returns the name, the description and the JSON Schema of the input for the model.
    fn definition(&self) -> ToolDefinition;

    /// Returns an error if the definition isn't known yet, for example because a server has not
    /// been connected. The default is `Ok`.
    ///
    /// # Errors
    ///
    /// Returns [`ToolError::unavailable`] with what has to be done first.
    fn ready(&self) -> Result<(), ToolError> {
        Ok(())
    }

    /// Checks an input without calling the tool, so that no person is asked to approve a call that
    /// is bound to fail. The default accepts everything.
    ///
    /// # Errors
    ///
    /// Returns [`ToolError::input`] with what is wrong.
    fn check(&self, input: &Value) -> Result<(), ToolError> {
        let _ = input;
        Ok(())
    }

    /// Calls the tool, and returns its output for the model.
    ///
    /// # Errors
    ///
    /// Returns [`ToolError::input`] if the input is wrong, [`ToolError::unavailable`] if the tool
    /// can't be called, and [`ToolError::failed`] otherwise. The model reads the message.
    async fn call(
        &self, // Is `#[async_trait]` missing above the `impl`? It changes this signature.
        input: Value,
    ) -> Result<String, ToolError>;
}

/// Creates a tool from an async function.
///
/// The JSON Schema of the input is that of `A`, with the doc comments of its fields as
/// descriptions. Unknown fields are ignored unless `A` has `#[serde(deny_unknown_fields)]`. If the
/// input doesn't match, the model reads the error of serde.
///
/// The function returns any type that can be serialised. The model reads a string as it is, and
/// any other value as JSON.
///
/// See the [crate documentation](crate) for an example.
pub fn function<A, F, R, T>(name: &str, description: &str, call: F) -> impl Tool + use<A, F, R, T>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A) -> R + Send + Sync + 'static,
    R: Future<Output = Result<T, ToolError>> + Send + 'static,
    T: Serialize,
{
    let mut schema = schema_of::<A>();
    // Servers want the schema of an object, also from a tool that takes anything.
    if let Some(keywords) = schema.as_object_mut() {
        keywords.entry("type").or_insert_with(|| "object".into());
    }

    Function {
        definition: ToolDefinition::new(name, description, schema.to_string()),
        call,
        input: PhantomData,
    }
}

struct Function<A, F> {
    definition: ToolDefinition,
    call: F,
    input: PhantomData<fn(A)>,
}

#[async_trait]
impl<A, F, R, T> Tool for Function<A, F>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A) -> R + Send + Sync + 'static,
    R: Future<Output = Result<T, ToolError>> + Send + 'static,
    T: Serialize,
{
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn check(&self, input: &Value) -> Result<(), ToolError> {
        read::<A>(input).map(drop)
    }

    async fn call(&self, input: Value) -> Result<String, ToolError> {
        // Read again, because a value can only be given away once.
        let output = (self.call)(read(&input)?).await?;

        text(&output)
    }
}

fn read<A: DeserializeOwned>(input: &Value) -> Result<A, ToolError> {
    A::deserialize(input).map_err(ToolError::input)
}

/// Returns a string as it is, and any other value as JSON.
fn text(output: &impl Serialize) -> Result<String, ToolError> {
    // The type may be any, so only its JSON tells whether it is a string.
    let json = serde_json::to_string(output).map_err(|error| {
        ToolError::failed(format_args!(
            "its result cannot be written as JSON: {error}"
        ))
    })?;

    Ok(serde_json::from_str::<String>(&json).unwrap_or(json))
}
