use std::fmt;

use cogwork_llm::Message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Payload;

/// One of the two hooks of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hook {
    /// The hook before the generation.
    Before,
    /// The hook after the generation.
    After,
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before",
            Self::After => "after",
        })
    }
}

/// The hooks of a mode that are called.
///
/// ```
/// use cogwork_thinking::{Hook, Hooks};
///
/// assert!(Hooks::AFTER.has(Hook::After));
/// assert!(!Hooks::AFTER.has(Hook::Before));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hooks {
    before: bool,
    after: bool,
    tool_calls: bool,
}

impl Hooks {
    /// Neither hook: the mode is disabled.
    pub const NONE: Self = Self {
        before: false,
        after: false,
        tool_calls: false,
    };
    /// Only the `before` hook.
    pub const BEFORE: Self = Self {
        before: true,
        ..Self::NONE
    };
    /// Only the `after` hook.
    pub const AFTER: Self = Self {
        after: true,
        ..Self::NONE
    };
    /// Both hooks.
    pub const BOTH: Self = Self {
        before: true,
        after: true,
        ..Self::NONE
    };

    /// Also calls the `after` hook for drafts with tool calls. By default, these drafts are
    /// skipped, because they aren't answers yet.
    #[must_use]
    pub const fn and_tool_calls(self) -> Self {
        Self {
            tool_calls: true,
            ..self
        }
    }

    /// Returns whether `hook` is called.
    pub const fn has(self, hook: Hook) -> bool {
        match hook {
            Hook::Before => self.before,
            Hook::After => self.after,
        }
    }

    /// Returns whether the `after` hook is also called for drafts with tool calls.
    pub const fn sees_tool_calls(self) -> bool {
        self.tool_calls
    }
}

/// The result of a hook.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HookOutcome {
    /// Keeps the payload.
    Keep,
    /// Replaces the text. Blocks, tool calls and metadata remain.
    ReplaceText(String),
    /// Replaces the whole payload.
    Replace(Payload),
    /// Requests a further draft, with the current draft and these messages appended to the
    /// conversation. Only allowed in an `after` hook, and only a
    /// [limited](crate::Thinking::with_tries) number of times.
    TryAgain(Vec<Message>),
    /// Refuses the answer for this reason: the generation fails, regardless of
    /// [`ThinkingMode::on_failure`](crate::ThinkingMode::on_failure).
    Fail(String),
}

impl HookOutcome {
    /// Creates an outcome that replaces the text.
    pub fn replace_text(text: impl Into<String>) -> Self {
        Self::ReplaceText(text.into())
    }

    /// Creates an outcome that requests a further draft with this user message.
    pub fn try_again(message: impl Into<String>) -> Self {
        Self::TryAgain(vec![Message::user(message.into())])
    }
}

/// What happens if a hook fails: a call fails, a reply is empty or unusable, the hook panics, or a
/// limit is reached. The [`Report`](crate::Report) contains the failure in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnFailure {
    /// Keeps the payload, or the one that the hook last [accepted](crate::Moment::accept).
    #[default]
    #[schemars(description = "Keeps what was there.")]
    Keep,
    /// Fails the generation.
    #[schemars(description = "Fails the generation.")]
    Fail,
    /// Repeats each failed call of [`Moment::ask`](crate::Moment::ask) once, then behaves like
    /// `Keep`.
    #[schemars(description = "Repeats a failed call once, then behaves like `keep`.")]
    TryAgain,
}
