//! Typed answers from any language model.
//!
//! ```text
//! Model::<T>::typed(client).ask(prompt) → Answered<T>     any T: JsonSchema + DeserializeOwned
//! ```
//!
//! The JSON Schema of the type is sent to the server if the server can enforce it: with bounds, as
//! the strict mode of OpenAI requires it, as JSON mode, or only in the prompt, whichever the server
//! accepts. A reply is found in fences, prose and after thinking, and what has only one meaning is
//! corrected. Every correction is reported. What doesn't match is asked for again, with the place
//! and the reason.
//!
//! ```
//! use cogwork_llm::ScriptedClient;
//! use cogwork_typed::Model;
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Debug, Deserialize, JsonSchema)]
//! struct Invoice {
//!     /// The company that sent it.
//!     vendor: String,
//!     items: Vec<f64>,
//!     total: f64,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), cogwork_typed::AskError> {
//! let client = ScriptedClient::new([
//!     r#"{"vendor": "ACME", "items": [40, 60], "total": 120}"#,
//!     r#"{"vendor": "ACME", "items": [40, 60, 20], "total": 120}"#,
//! ]);
//!
//! let model = Model::<Invoice>::typed(client).with_check(|invoice| {
//!     let sum: f64 = invoice.items.iter().sum();
//!     if sum == invoice.total { Ok(()) } else { Err(format!("the items add up to {sum}")) }
//! });
//! let invoice = model.ask("Read this invoice: …").await?;
//!
//! assert_eq!(invoice.value.items.len(), 3);
//! assert_eq!(invoice.log.tries[0].complaint.as_deref(), Some("the items add up to 100"));
//! # Ok(())
//! # }
//! ```
//!
//! [`Model::node`] makes a node of a flow over any state. [`ModelNode`] can keep the conversation in
//! a [`ChatMemory`] in the state, call tools, and follow an edge if there is no answer.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer_key;
mod answered;
mod answering;
pub mod ask;
mod candidates;
mod error;
mod fenced;
mod fit;
mod growing;
mod memory;
mod model;
mod node;
mod problem;
mod reader;
mod shape;
mod syntax;
mod tree;

pub use answer_key::AnswerKey;
pub use answered::Answered;
pub use ask::AskLog;
pub use candidates::without_thinking;
pub use error::{AskError, AskErrorKind};
pub use growing::{GrowingText, Growth};
pub use memory::ChatMemory;
pub use model::Model;
pub use node::ModelNode;
pub use problem::{AnswerProblem, AnswerProblemKind};
pub use reader::{AnswerReader, ReadAnswer};
pub use shape::AnswerSchema;

pub use cogwork_tools::schemars;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
