//! Reasoning loops for Rust.
//!
//! A program gives Cogwork a problem and a language model. The loop keeps a plan of nested steps,
//! judges its last thought, does the next step, corrects the plan if it was wrong, and ends with a
//! conclusion. Every thought is kept.
//!
//! ```text
//! ChainOfThought: Node<Reasoning>   "continue" → itself, "end" → the answer
//! ```
//!
//! ```
//! # #[cfg(feature = "cot")]
//! # {
//! use cogwork::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Any `LlmClient` will do: `OpenAiClient`, a custom one, or a script for a test.
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
//!
//! assert_eq!(reasoning.answer(), Some("4"));
//! # Ok(())
//! # }
//! # main().unwrap();
//! # }
//! ```
//!
//! # Modules
//!
//! Each module is a crate that can also be used by itself.
//!
//! | module | crate | what it is for | feature |
//! |---|---|---|---|
//! | [`flow`] | `cogwork-flow` | nodes joined by labelled actions, over a typed state | always |
//! | [`plan`] | `cogwork-plan` | plans of nested steps as data | always |
//! | [`llm`] | `cogwork-llm` | the `LlmClient` trait, clients, and what surrounds a call | always |
//! | `cot` | `cogwork-cot` | the chain-of-thought node | `cot` (default) |
//! | `strategies` | `cogwork-strategies` | nine reasoning strategies, and sessions of thoughts | `strategies` |
//! | `thinking` | `cogwork-thinking` | reflection, verification and memory around any client | `thinking` |
//! | `tools` | `cogwork-tools` | tools that a model may call | `tools`, `mcp` |
//! | `typed` | `cogwork-typed` | typed answers, in one call or as a node over any state; asking until a reply can be used | `typed`, `cot`, `strategies`, `trace` |
//! | `recall` | `cogwork-recall` | passages found by meaning, and folders of texts | `recall` |
//! | `agents` | `cogwork-agents` | agents as nodes, and flows from YAML files | `agents` |
//! | `journal` | `cogwork-journal` | runs that survive a crash | `journal`, `sqlite`, `postgres`, `postgres-tls` |
//! | `trace` | `cogwork-trace` | records of runs: what was said, planned and spent | `trace` |
//!
//! # Features
//!
//! - `default`: `cot`, `console` (thoughts in the terminal) and `rustls` (clients over https).
//! - `full`: everything in the table, with `sqlite`.
//! - `http`, `rustls`, `native-tls`: clients of OpenAI-compatible servers, Anthropic and Ollama;
//!   `http` by itself speaks http:// only.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub use cogwork_flow as flow;
pub use cogwork_llm as llm;
pub use cogwork_plan as plan;

#[cfg(feature = "agents")]
pub use cogwork_agents as agents;
#[cfg(feature = "cot")]
pub use cogwork_cot as cot;
#[cfg(feature = "journal")]
pub use cogwork_journal as journal;
#[cfg(feature = "recall")]
pub use cogwork_recall as recall;
#[cfg(feature = "strategies")]
pub use cogwork_strategies as strategies;
#[cfg(feature = "thinking")]
pub use cogwork_thinking as thinking;
#[cfg(feature = "tools")]
pub use cogwork_tools as tools;
#[cfg(feature = "trace")]
pub use cogwork_trace as trace;
#[cfg(feature = "typed")]
pub use cogwork_typed as typed;

pub use cogwork_llm::async_trait;

/// The names that most programs need.
///
/// ```
/// use cogwork::prelude::*;
/// ```
pub mod prelude {
    pub use cogwork_flow::{
        Action, Backoff, Batch, BoxError, Branches, BuildError, Each, Flow, Node, Proceeded, Wait,
        from_exec, from_exec_with, from_fn, from_phases, from_phases_with,
    };
    pub use cogwork_llm::{
        ChatRequest, ChatResponse, LlmClient, LlmError, Message, ScriptedClient, async_trait,
    };
    pub use cogwork_plan::{Plan, Status, Step};

    #[cfg(feature = "cot")]
    pub use cogwork_cot::{ChainOfThought, Reasoning};

    #[cfg(feature = "console")]
    pub use cogwork_cot::ConsoleReporter;

    #[cfg(feature = "http")]
    pub use cogwork_llm::{AnthropicClient, OllamaClient, OpenAiClient};

    #[cfg(feature = "strategies")]
    pub use cogwork_strategies::{Solver, StrategyName};

    // `#[derive(JsonSchema)]` needs the name of its crate, too.
    #[cfg(feature = "tools")]
    pub use cogwork_tools::schemars::{self, JsonSchema};
    #[cfg(feature = "tools")]
    pub use cogwork_tools::{ToolError, Tools, function};

    #[cfg(feature = "typed")]
    pub use cogwork_typed::{Model, ask::Limits};

    #[cfg(feature = "agents")]
    pub use cogwork_agents::{Agent, FlowState};

    #[cfg(feature = "journal")]
    pub use cogwork_journal::Store;
}

/// The code in the README, compiled and run as a doctest.
#[cfg(all(doctest, feature = "console", feature = "http"))]
#[doc = include_str!("../README.md")]
struct Readme;
