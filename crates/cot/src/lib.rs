//! A chain-of-thought node that runs in a loop: it plans, judges its last thought, does the next
//! step, repairs the plan, and concludes. Every thought is kept.
//!
//! ```text
//! ChainOfThought: Node<Reasoning>   "continue" → itself, "end" → the answer
//! ```
//!
//! ```
//! use cogwork_cot::{ChainOfThought, Reasoning};
//! use cogwork_llm::ScriptedClient;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Any `LlmClient` works: `OpenAiClient`, a custom one, or a script for a test.
//! let client = ScriptedClient::new(["\
//! ```yaml
//! current_thinking: 2 + 2 = 4.
//! planning:
//!   - {description: Add, status: Done, result: 4}
//!   - {description: Conclusion, status: Done, result: 4}
//! next_thought_needed: false
//! ```"]);
//!
//! let flow = ChainOfThought::new(client).into_flow();
//! let mut reasoning = Reasoning::new("What is 2 + 2?");
//! flow.run(&mut reasoning).await?;
//! assert_eq!(reasoning.solution(), Some("2 + 2 = 4."));
//! assert_eq!(reasoning.answer(), Some("4"));
//! # Ok(())
//! # }
//! ```
//!
//! | to … | use |
//! |---|---|
//! | run the loop alone, or in a flow of your own | [`ChainOfThought::into_flow`], [`ChainOfThought`] as a node |
//! | inspect thoughts, plan and cost; save and resume | [`Reasoning`], [`Thought`], [`Trace`], [`cogwork_typed::ask::Spent`] |
//! | have the server hold replies to their form | [`cogwork_typed::ask::Format`] |
//! | limit a run, and see why it ended | [`cogwork_typed::ask::Limits`], [`CutShort`], [`CotError`] |
//! | choose what the model sees | [`Prompts`], [`History`], [`EarlyEnd`] |
//! | let the model call tools | [`ChainOfThought::with_tools`], [`cogwork_tools::Tools`], [`cogwork_typed::ask::ToolUse`] |
//! | watch a run | [`Reporter`], `ConsoleReporter` (feature `console`), [`ReasoningEvent`] |
//! | read a raw reply | [`Reply::read`], [`Read`], [`cogwork_typed::ask::Repair`] |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod chain_of_thought;
pub use chain_of_thought::ChainOfThought;

mod turn;
pub use turn::{Turn, TurnOutcome};

mod open_steps;
mod replies;

mod reasoning;
pub use reasoning::Reasoning;

mod tool_calls;

mod ending;
pub use ending::CutShort;

mod thought;
pub use thought::{Thought, Trace};

mod reasoning_event;
pub use reasoning_event::{ReasoningEnd, ReasoningEvent};

mod settings;
pub use settings::{EarlyEnd, History};

mod prompt;
pub use prompt::{Example, FormPrompts, Prompts, PromptsError, ToolPrompts};

mod reply;
pub use reply::{Read, Reply};

mod reporter;
#[cfg(feature = "console")]
pub use reporter::ConsoleReporter;
pub use reporter::Reporter;

mod error;
pub use error::CotError;

/// The code in the README, compiled and run as a doctest.
#[cfg(all(doctest, feature = "console", feature = "http"))]
#[doc = include_str!("../README.md")]
struct Readme;
