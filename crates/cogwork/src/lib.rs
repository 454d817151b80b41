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
//! Each module is a crate that can also be used by itself: [`flow`] is `cogwork-flow`. [`flow`],
//! [`plan`] and [`llm`] are always there, each other one with the feature of its name.
//!
//! # Features
//!
//! - `default`: `cot`, `console` (thoughts in the terminal) and `rustls` (clients over https).
//! - `full`: all modules, with `mcp` (tools of MCP servers), `page` (runs as HTML), and the stores
//!   `sqlite` and `postgres`.
//! - `http`, `rustls`, `native-tls`: clients of OpenAI-compatible servers, Anthropic and Ollama;
//!   `http` by itself speaks http:// only.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Each crate is a module, not renamed: for a trait that isn't imported, the compiler then suggests
// `cogwork::flow::Node`, and not `cogwork::cogwork_flow::Node`, which doesn't exist.

/// Nodes joined by labelled actions, over a typed state.
pub mod flow {
    pub use cogwork_flow::*;
}

/// Plans of nested steps as data.
pub mod plan {
    pub use cogwork_plan::*;
}

/// The `LlmClient` trait, clients, and what surrounds a call.
pub mod llm {
    pub use cogwork_llm::*;
}

/// The chain-of-thought node.
#[cfg(feature = "cot")]
pub mod cot {
    pub use cogwork_cot::*;
}

/// Nine reasoning strategies, and sessions of thoughts.
#[cfg(feature = "strategies")]
pub mod strategies {
    pub use cogwork_strategies::*;
}

/// Reflection, verification and memory around any client.
#[cfg(feature = "thinking")]
pub mod thinking {
    pub use cogwork_thinking::*;
}

/// Tools that a model may call.
#[cfg(feature = "tools")]
pub mod tools {
    pub use cogwork_tools::*;
}

/// Typed answers, in one call or as a node over any state; asking until a reply can be used.
#[cfg(feature = "typed")]
pub mod typed {
    pub use cogwork_typed::*;
}

/// Passages found by meaning, and folders of texts.
#[cfg(feature = "recall")]
pub mod recall {
    pub use cogwork_recall::*;
}

/// Agents as nodes, and flows from YAML files.
#[cfg(feature = "agents")]
pub mod agents {
    pub use cogwork_agents::*;
}

/// Runs that survive a crash.
#[cfg(feature = "journal")]
pub mod journal {
    pub use cogwork_journal::*;
}

/// Records of runs: what was said, planned and spent.
#[cfg(feature = "trace")]
pub mod trace {
    pub use cogwork_trace::*;
}

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
