use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Draft, ThinkingError};

/// A mode of thinking: an async function over the user's message before a generation, one over the
/// draft after it, or both. A mode implements only those that it needs.
///
/// A hook changes its [`Draft`], which also has the conversation, the search result of the memory
/// and a client. It may be dropped at any `await`; what it has changed by then remains in effect,
/// also if it fails. The [`Report`](crate::Report) contains the failure. Only a mode that
/// [refuses](ThinkingError::refused) fails the generation.
///
/// Implementations need the attribute `#[async_trait]`. Without it, the compiler reports error
/// E0195.
///
/// See the [crate documentation](crate) for an example.
#[async_trait]
pub trait ThinkingMode: Send + Sync {
    /// Returns the name in reports and errors.
    ///
    /// The default is the name of the type.
    fn name(&self) -> &str {
        let whole = std::any::type_name::<Self>();
        // Without parameters, which may be long, and without the modules.
        let plain = whole.split('<').next().unwrap_or(whole);
        plain.rsplit("::").next().unwrap_or(plain)
    }

    /// Returns which hooks are called. A mode with only [`before`](Self::before) doesn't interrupt
    /// streaming, whereas [`after`](Self::after) needs the whole draft first.
    ///
    /// The default is both.
    fn hooks(&self) -> &[Hook] {
        &[Hook::Before, Hook::After]
    }

    /// Processes the user's message before it is sent to the model. It is only called if the
    /// conversation ends with a user message, not if it ends with tool results.
    ///
    /// The default changes nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the hook fails or refuses.
    async fn before(&self, input: &mut Draft) -> Result<(), ThinkingError> {
        let _ = input;
        Ok(())
    }

    /// Processes the draft before it is returned to the program. It isn't called for a reply with
    /// tool calls, which isn't an answer yet.
    ///
    /// The default changes nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the hook fails or refuses.
    async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
        let _ = draft;
        Ok(())
    }
}

#[async_trait]
impl<M: ThinkingMode + ?Sized> ThinkingMode for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn hooks(&self) -> &[Hook] {
        (**self).hooks()
    }

    async fn before(&self, input: &mut Draft) -> Result<(), ThinkingError> {
        (**self).before(input).await
    }

    async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
        (**self).after(draft).await
    }
}

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
