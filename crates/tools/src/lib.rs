//! Tools that a language model can call: one trait, typed functions as tools, and a registry with
//! limits.
//!
//! ```text
//! async fn call(&self, input: serde_json::Value) -> Result<String, ToolError>
//! ```
//!
//! Any async function with typed arguments can be a tool. It returns any type that can be serialised:
//! strings are passed on as they are, other values as JSON. The model receives the JSON Schema of the
//! arguments, and a readable error if the arguments of its call don't match:
//!
//! ```
//! use cogwork_llm::{Message, ToolCall};
//! use cogwork_tools::{ToolError, Tools, function};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Sum {
//!     /// The numbers to add.
//!     numbers: Vec<f64>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), ToolError> {
//! let tools = Tools::new()
//!     .with(function("sum", "Adds numbers.", |Sum { numbers }| async move { Ok(numbers.iter().sum::<f64>()) }))?;
//!
//! let call = ToolCall::new("call_1", "sum", r#"{"numbers": [1, 2, 3.5]}"#);
//! assert_eq!(tools.call(&call).await?, "6.5");
//!
//! let wrong = ToolCall::new("call_2", "sum", r#"{"numbers": 1}"#);
//! assert_eq!(
//!     tools.call(&wrong).await.unwrap_err().to_string(),
//!     "bad input for the tool `sum`: invalid type: integer `1`, expected a sequence",
//! );
//! let unknown = ToolCall::new("call_3", "add", "{}");
//! assert_eq!(tools.call(&unknown).await.unwrap_err().to_string(), "there is no tool `add`; expected `sum`");
//! # Ok(())
//! # }
//! ```
//!
//! A tool returns [`ToolError::failed`] if it failed and [`ToolError::input`] if an argument is
//! wrong. The model reads both messages. Deriving `JsonSchema` requires `schemars` 1 as a
//! dependency, or the re-export of this crate in scope: `use cogwork_tools::schemars::{self,
//! JsonSchema};`.
//!
//! Each call is a span named `execute_tool`, with the field names of OpenTelemetry's conventions for
//! generative AI.
//!
//! With the feature `mcp`, the tools of servers that speak the Model Context Protocol are tools,
//! too: see the module `mcp`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod tool;
pub use tool::{Tool, function};

mod tools;
pub use tools::Tools;

mod spans;

mod schema;
pub use schema::{check_name, schema_of};

#[cfg(feature = "mcp")]
pub mod mcp;

mod approval;
pub use approval::ToolApproval;

mod error;
pub use error::ToolError;

pub use async_trait::async_trait;
pub use schemars;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
