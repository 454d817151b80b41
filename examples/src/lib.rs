//! The backend behind the examples that run offline: arithmetic by rules, one step a turn.
//!
//! ```text
//! RuleBasedClient: LlmClient      // ChatRequest with <problem>…</problem> -> a thought and its plan in YAML
//! ```
//!
//! It takes the place of a model where there is none:
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use cogwork_examples::RuleBasedClient;
//! use cogwork::llm::LlmClient;
//!
//! let client: Arc<dyn LlmClient> = Arc::new(RuleBasedClient::new().with_delay(Duration::from_millis(300)));
//! ```

mod rule_based;
pub use rule_based::{RuleBasedClient, calculate};

/// The code in README and the guides, compiled and run as doctests.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/guide/ten-minutes.md")]
    struct TenMinutes;
    #[doc = include_str!("../../docs/guide/first-flow.md")]
    struct FirstFlow;
    #[doc = include_str!("../../docs/guide/a-run-that-survives.md")]
    struct ARunThatSurvives;
    #[doc = include_str!("../../docs/guide/your-own-backend.md")]
    struct YourOwnBackend;
    #[doc = include_str!("../../docs/guide/models.md")]
    struct Models;
    #[doc = include_str!("../../docs/guide/around-a-client.md")]
    struct AroundAClient;
    #[doc = include_str!("../../docs/guide/trace-page.md")]
    struct TracePage;
    #[doc = include_str!("../../docs/guide/embedding-the-loop.md")]
    struct EmbeddingTheLoop;
    #[doc = include_str!("../../docs/guide/tools-from-servers.md")]
    struct ToolsFromServers;
    #[doc = include_str!("../../docs/guide/studio.md")]
    struct Studio;
    #[doc = include_str!("../../docs/guide/assistants.md")]
    struct Assistants;
    #[doc = include_str!("../../docs/guide/tools-in-the-loop.md")]
    struct ToolsInTheLoop;
    #[doc = include_str!("../../docs/guide/prompts.md")]
    struct Prompts;
    #[doc = include_str!("../../docs/guide/when-it-goes-wrong.md")]
    struct WhenItGoesWrong;
    #[doc = include_str!("../../docs/guide/durable-engine.md")]
    struct DurableEngine;
    #[doc = include_str!("../../docs/guide/scale.md")]
    struct Scale;
    #[doc = include_str!("../../docs/guide/strategies.md")]
    struct Strategies;
    #[doc = include_str!("../../docs/guide/thinking.md")]
    struct Thinking;
    #[doc = include_str!("../../docs/guide/recall.md")]
    struct Recall;
    #[doc = include_str!("../../docs/guide/typed-answers.md")]
    struct TypedAnswers;
    #[doc = include_str!("../../docs/guide/flows-from-files.md")]
    struct FlowsFromFiles;
    #[doc = include_str!("../../docs/guide/record-of-a-run.md")]
    struct RecordOfARun;
}
