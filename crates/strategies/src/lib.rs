//! Reasoning strategies: stage tables as data, and sessions of thoughts with branches that keep to them.
//!
//! ```text
//! Strategy = stages, each with description, prompt, parameters and the stages that may follow
//! StageManager::move_to(stage, parameters) -> Stage, or a refusal that changed nothing
//! ```
//!
//! ```
//! use std::collections::BTreeMap;
//! use cogwork_strategies::{StageManager, StrategyName};
//!
//! let mut manager = StageManager::new(StrategyName::React);
//! manager.move_to("initial_reasoning", &BTreeMap::new())?;
//! let refusal = manager.move_to("action_execution", &BTreeMap::new()).unwrap_err();
//! assert_eq!(
//!     refusal.to_string(),
//!     "`react` does not lead from `initial_reasoning` to `action_execution`; expected `action_planning`",
//! );
//! # Ok::<(), Box<cogwork_strategies::Refusal>>(())
//! ```
//!
//! Nine strategies are part of the crate ([`StrategyName`]); more are read from YAML or JSON
//! ([`Strategies`]), and checked whole. What is read is bounded in size, depth and count.

mod name;
pub use name::{StrategyName, UnknownStrategy};

mod strategies;
pub use strategies::Strategies;

mod strategy;
pub use strategy::{Stage, Strategy};

mod parameter;
pub use parameter::{Parameter, ParameterType};

mod table;
pub use table::{MAX_TABLE_BYTES, TableError, TableProblem, TableProblemKind};

mod mermaid;
pub use mermaid::Mermaid;

mod refusal;
pub use refusal::{Mistyped, Refusal, RefusalReason};

mod stage_manager;
pub use stage_manager::StageManager;

mod quote;
mod schema;
