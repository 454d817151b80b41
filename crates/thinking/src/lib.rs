//! Hooks before and after each generation of a language model: reflection and other modes, a
//! registry of modes, and memory.
//!
//! ```text
//! async fn before(&self, input: &mut Draft) -> Result<(), ThinkingError>   // the user's message
//! async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError>    // the model's draft
//! ```
//!
//! A mode implements the hooks that it needs. [`Thinking`] adds modes to a client, and is a client
//! itself:
//!
//! ```
//! use cogwork_llm::{ChatRequest, LlmError, Message, ScriptedClient};
//! use cogwork_thinking::{Draft, Reflection, Thinking, ThinkingError, ThinkingMode, async_trait};
//!
//! /// Asks again for an answer that is too long.
//! struct Brief(usize);
//!
//! #[async_trait]
//! impl ThinkingMode for Brief {
//!     async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
//!         while draft.text().len() > self.0 {
//!             draft.try_again(&format!("Use at most {} letters.", self.0)).await?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), LlmError> {
//! let script = ScriptedClient::new(["Well, I should think that it is Oslo.", "Bergen.", "Oslo."]);
//! let client = Thinking::new(script)
//!     .with_mode(Brief(10))
//!     .with_mode(Reflection::new("Is it true? Give the right answer."));
//!
//! let generation = client.generate(ChatRequest::new([Message::user("The capital of Norway?")])).await?;
//! assert_eq!(generation.response.text(), "Oslo.");
//! println!("{}", generation.report);
//! # Ok(())
//! # }
//! ```
//!
//! | for | see |
//! |---|---|
//! | adding modes to any client | [`Thinking`] |
//! | a generation with tool calls, as of an agent | [`Thinking::begin`], [`Generating`] |
//! | custom modes | [`ThinkingMode`], [`Draft`], [`Hook`] |
//! | built-in modes | [`Reflection`], [`PlanFirst`], [`Critique`], [`Verification`], [`BestOf`] |
//! | modes by name, with their settings | [`Registry`] |
//! | what happened in a generation | [`Generation`], [`Report`] |
//! | memory | the module [`memory`]; in files: the crate `cogwork-recall` |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod mode;
pub use mode::{Hook, ThinkingMode};

mod draft;
pub use draft::Draft;

mod error;
pub use error::ThinkingError;

mod thinking;
pub use thinking::Thinking;

mod generating;
pub use generating::Generating;

mod hook_client;

mod report;
pub use report::{Candidate, Generation, HookReport, Outcome, Report};

mod modes;
pub use modes::{BestOf, Critique, PlanFirst, Reflection, Verification};

mod registry;
pub use registry::{Registry, RegistryError};

pub mod settings;
pub use settings::SettingProblem;

pub mod memory;

pub use cogwork_llm::async_trait;

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
