use std::fmt;
use std::sync::Arc;

use cogwork_llm::{ChatResponse, Usage};
use cogwork_text::{Name, OneLine};
use serde::{Deserialize, Serialize};

use crate::{Found, Hook, Payload};

/// A generation with all that led to it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Generation {
    /// The answer. Its usage is the sum over all calls of the generation, as far as it is known; model,
    /// reasoning and request id are those of the last draft.
    pub response: ChatResponse,
    /// The answer as the last hook left it, with blocks and metadata, which a response has no place for.
    pub payload: Payload,
    /// What happened on the way.
    pub report: Report,
}

/// What happened in one generation: drafts, verdicts, calls, failures.
///
/// `{}` is a line for each hook, and one for the whole:
///
/// ```text
/// after reflection: replaced (1 call, 80 tokens)
/// 2 drafts, 2 calls, 120 tokens
/// ```
///
/// Where there is no answer the last line begins with the reason: `no answer: timeout: …; 0 drafts, 1 call, 0 tokens`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// All texts that were considered, oldest first. The last need not be the answer.
    pub drafts: Vec<Candidate>,
    /// The hooks that were called, in order.
    pub hooks: Vec<HookReport>,
    /// What was found in the memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<Found>,
    /// What went wrong with the memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_failures: Vec<String>,
    /// Why there is no answer, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How many calls were made in all, drafts and failed ones included.
    pub calls: u32,
    /// The sum of what is known of their tokens.
    pub usage: Usage,
}

impl Report {
    /// Each failure of a hook, with the mode's name.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &str)> {
        self.hooks.iter().flat_map(|hook| {
            let failed = match &hook.outcome {
                Outcome::Failed(problem) => Some(problem),
                _ => None,
            };
            hook.problems
                .iter()
                .chain(failed)
                .map(|problem| (hook.mode.as_str(), problem.as_str()))
        })
    }
}

/// A text that was considered as the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The mode whose hook made it; none for the generation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The text.
    pub text: Arc<str>,
}

/// One call of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HookReport {
    /// The mode's name.
    pub mode: String,
    /// Which hook.
    pub hook: Hook,
    /// What came of it.
    pub outcome: Outcome,
    /// Failures on the way that did not end it, as of a call that was made again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// How many calls it made.
    pub calls: u32,
    /// The sum of what is known of their tokens.
    pub usage: Usage,
}

/// What came of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The payload stayed.
    Kept,
    /// It was replaced.
    Replaced,
    /// Something was added to it.
    Appended,
    /// Another draft was asked for.
    TriedAgain,
    /// The hook refused the answer, for this reason.
    Refused(String),
    /// The hook failed with this.
    Failed(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept => f.write_str("kept"),
            Self::Replaced => f.write_str("replaced"),
            Self::Appended => f.write_str("appended"),
            Self::TriedAgain => f.write_str("tried again"),
            Self::Refused(reason) => write!(f, "refused: {}", line(reason)),
            Self::Failed(problem) => write!(f, "failed: {}", line(problem)),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for hook in &self.hooks {
            let HookReport {
                mode,
                hook,
                outcome,
                problems,
                calls,
                usage,
            } = hook;

            for problem in problems {
                writeln!(f, "{hook} {}: {}", Name(mode), line(problem))?;
            }

            let calls = count(*calls, "call");
            let tokens = usage.total_tokens();
            writeln!(
                f,
                "{hook} {}: {outcome} ({calls}, {tokens} tokens)",
                Name(mode)
            )?;
        }

        for problem in &self.memory_failures {
            writeln!(f, "memory: {}", line(problem))?;
        }

        if let Some(error) = &self.error {
            write!(f, "no answer: {}; ", line(error))?;
        }

        let drafts = count(
            u32::try_from(self.drafts.len()).unwrap_or(u32::MAX),
            "draft",
        );
        write!(
            f,
            "{drafts}, {}, {} tokens",
            count(self.calls, "call"),
            self.usage.total_tokens()
        )
    }
}

/// Characters shown of what was wrong.
const PROBLEM: usize = 300;

fn line(problem: &str) -> OneLine<&str> {
    OneLine::new(problem).with_max_chars(PROBLEM)
}

fn count(number: u32, what: &str) -> String {
    if number == 1 {
        format!("1 {what}")
    } else {
        format!("{number} {what}s")
    }
}
