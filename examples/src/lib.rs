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
//! use cogwork_llm::LlmClient;
//!
//! let client: Arc<dyn LlmClient> = Arc::new(RuleBasedClient::new().with_delay(Duration::from_millis(300)));
//! ```

mod rule_based;
pub use rule_based::RuleBasedClient;
