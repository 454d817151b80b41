use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use cogwork_llm::Message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Moment, Payload, ThinkingError};

/// A way of thinking around a generation: one hook before it, one after it. All methods have a default, so
/// a mode writes what it needs.
///
/// A hook sees the [`Moment`] (client, conversation, role, memory) and the [`Payload`], and answers a
/// [`HookOutcome`]. It may be dropped at any `await`; what it has said with [`Moment::stand`] until then holds.
///
/// See the [front page](crate) for an example.
#[async_trait]
pub trait ThinkingMode: Send + Sync {
    /// What reports and errors call it.
    ///
    /// # Default
    ///
    /// The name of the type.
    fn name(&self) -> &str {
        let whole = std::any::type_name::<Self>();
        let plain = whole.split('<').next().unwrap_or(whole);
        plain.rsplit("::").next().unwrap_or(plain)
    }

    /// Which of its hooks are called. A mode that says [`Hooks::BEFORE`] leaves streamed replies to flow:
    /// an [`after`](Self::after) has to have the whole draft first. [`Hooks::NONE`] switches it off.
    ///
    /// # Default
    ///
    /// [`Hooks::BOTH`].
    fn hooks(&self) -> Hooks {
        Hooks::BOTH
    }

    /// What holds when one of its hooks fails.
    ///
    /// # Default
    ///
    /// [`OnFailure::Keep`].
    fn on_failure(&self) -> OnFailure {
        OnFailure::Keep
    }

    /// Works on the user's message before the model sees it. It is called when the conversation ends with
    /// one, and not where it ends with what tools gave back.
    ///
    /// # Default
    ///
    /// [`HookOutcome::Keep`].
    ///
    /// # Errors
    ///
    /// When the hook cannot do its work; [`on_failure`](Self::on_failure) says what then holds.
    async fn before(
        &self,
        moment: &Moment<'_>,
        payload: &Payload,
    ) -> Result<HookOutcome, ThinkingError> {
        let _ = (moment, payload);
        Ok(HookOutcome::Keep)
    }

    /// Works on the draft before the program sees it.
    ///
    /// # Default
    ///
    /// [`HookOutcome::Keep`].
    ///
    /// # Errors
    ///
    /// When the hook cannot do its work; [`on_failure`](Self::on_failure) says what then holds.
    async fn after(
        &self,
        moment: &Moment<'_>,
        payload: &Payload,
    ) -> Result<HookOutcome, ThinkingError> {
        let _ = (moment, payload);
        Ok(HookOutcome::Keep)
    }
}

macro_rules! through_a_pointer {
    ($pointer:ident) => {
        #[async_trait]
        impl<M: ThinkingMode + ?Sized> ThinkingMode for $pointer<M> {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn hooks(&self) -> Hooks {
                (**self).hooks()
            }

            fn on_failure(&self) -> OnFailure {
                (**self).on_failure()
            }

            async fn before(
                &self,
                moment: &Moment<'_>,
                payload: &Payload,
            ) -> Result<HookOutcome, ThinkingError> {
                (**self).before(moment, payload).await
            }

            async fn after(
                &self,
                moment: &Moment<'_>,
                payload: &Payload,
            ) -> Result<HookOutcome, ThinkingError> {
                (**self).after(moment, payload).await
            }
        }
    };
}

through_a_pointer!(Box);
through_a_pointer!(Arc);

/// One of the two hooks of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hook {
    /// Before the generation.
    Before,
    /// After the generation.
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

/// Which hooks of a mode are called, and on what.
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
    /// Neither: the mode is switched off.
    pub const NONE: Self = Self {
        before: false,
        after: false,
        tool_calls: false,
    };
    /// The one before.
    pub const BEFORE: Self = Self {
        before: true,
        ..Self::NONE
    };
    /// The one after.
    pub const AFTER: Self = Self {
        after: true,
        ..Self::NONE
    };
    /// Both.
    pub const BOTH: Self = Self {
        before: true,
        after: true,
        ..Self::NONE
    };

    /// The same, and the one after is also called on a draft that asks for calls of tools. Such a draft is
    /// no answer yet, so it is otherwise left alone.
    #[must_use]
    pub const fn and_tool_calls(self) -> Self {
        Self {
            tool_calls: true,
            ..self
        }
    }

    /// Whether this one is called.
    pub const fn has(self, hook: Hook) -> bool {
        match hook {
            Hook::Before => self.before,
            Hook::After => self.after,
        }
    }

    /// Whether a draft with calls of tools is shown to the hook after.
    pub const fn sees_tool_calls(self) -> bool {
        self.tool_calls
    }
}

/// What a hook answers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HookOutcome {
    /// The payload stays.
    Keep,
    /// The text is replaced by this one. Blocks, calls of tools and metadata stay.
    ReplaceText(String),
    /// The payload is replaced by this one, whole.
    Replace(Payload),
    /// This is added to the text, after an empty line.
    Append(String),
    /// The model is asked for another draft, with this one and these messages behind the conversation.
    /// After a generation only; how often is a [limit](crate::ModeLimits::with_tries).
    TryAgain(Vec<Message>),
    /// There must be no answer, for this reason: the generation fails, whatever
    /// [`ThinkingMode::on_failure`] says.
    Fail(String),
}

impl HookOutcome {
    /// The text is replaced by this one.
    pub fn replace_text(text: impl Into<String>) -> Self {
        Self::ReplaceText(text.into())
    }

    /// This is added to the text.
    pub fn append(text: impl Into<String>) -> Self {
        Self::Append(text.into())
    }

    /// The model is asked again, with the draft and this behind the conversation.
    pub fn try_again(message: impl Into<String>) -> Self {
        Self::TryAgain(vec![Message::user(message.into())])
    }
}

/// What holds when a hook fails: its call fails, its answer is empty or not to be used, it panics, or a
/// limit is reached. The failure is in the [`Report`](crate::Report) in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnFailure {
    /// The payload stays as it was, or as the hook [let it stand](crate::Moment::stand).
    #[default]
    #[schemars(description = "What was there stays.")]
    Keep,
    /// The generation fails.
    #[schemars(description = "There is no answer; the generation fails.")]
    Fail,
    /// Each call of [`Moment::ask`](crate::Moment::ask) that fails is made once more; then as `keep`.
    #[schemars(description = "A call that fails is made once more; then as `keep`.")]
    TryAgain,
}
