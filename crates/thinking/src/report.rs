use std::fmt;
use std::sync::Arc;

use cogwork_llm::{Block, ChatResponse};
use cogwork_text::{Name, OneLine, counted};
use cogwork_typed::ask::Spent;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Hook;
use crate::memory::Found;

/// The result of a generation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Generation {
    /// The answer. Its usage is the sum over all calls of the generation, as far as reported;
    /// model, reasoning and request id are those of the last draft.
    pub response: ChatResponse,
    /// The images and files that hooks have added to the answer.
    pub blocks: Vec<Block>,
    /// The metadata of the hooks.
    pub metadata: Map<String, Value>,
    /// What happened during the generation.
    pub report: Report,
}

/// The drafts, hooks, calls and failures of one generation.
///
/// `{}` shows one line per hook and a summary:
///
/// ```text
/// after reflection: replaced (1 call, 80 tokens)
/// 2 drafts, 2 calls, 120 tokens
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// All texts that were considered, oldest first. The last one isn't necessarily the answer.
    pub drafts: Vec<Candidate>,
    /// The hooks that were called, in order.
    pub hooks: Vec<HookReport>,
    /// The search result of the memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<Found>,
    /// The failures of the memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_failures: Vec<String>,
    /// The calls and tokens of the whole generation, including failed calls.
    #[serde(default)]
    pub spent: Spent,
}

/// A text that was considered as the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The mode whose hook created the text; `None` for the generation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The text.
    pub text: Arc<str>,
}

/// A call of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HookReport {
    /// The name of the mode.
    pub mode: String,
    /// The hook.
    pub hook: Hook,
    /// The outcome.
    pub outcome: Outcome,
    /// Failures that didn't end the hook, such as that of a call that was retried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// The calls and tokens of the hook, including failed calls.
    #[serde(default)]
    pub spent: Spent,
}

/// The outcome of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The text was kept.
    Kept,
    /// The text was replaced.
    Replaced,
    /// Text was appended.
    Appended,
    /// The hook failed with this error.
    Failed(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept => f.write_str("kept"),
            Self::Replaced => f.write_str("replaced"),
            Self::Appended => f.write_str("appended"),
            Self::Failed(problem) => write!(f, "failed: {}", line(problem)),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for hook in &self.hooks {
            hook.write(f)?;
        }

        for problem in &self.memory_failures {
            writeln!(f, "memory: {}", line(problem))?;
        }

        let drafts = counted(self.drafts.len(), "draft");
        write!(f, "{drafts}, {}", self.spent)
    }
}

impl HookReport {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hook = self.hook;
        let mode = Name(&self.mode);
        for problem in &self.problems {
            writeln!(f, "{hook} {mode}: {}", line(problem))?;
        }

        writeln!(f, "{hook} {mode}: {} ({})", self.outcome, self.spent)
    }
}

/// The maximum number of characters of a problem that are shown.
const PROBLEM: usize = 300;

fn line(problem: &str) -> OneLine<&str> {
    OneLine::new(problem).with_max_chars(PROBLEM)
}
