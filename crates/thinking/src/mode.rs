use std::sync::Arc;

use async_trait::async_trait;

use crate::{HookOutcome, Hooks, Moment, OnFailure, Payload, ThinkingError};

/// A mode of thinking: one hook before a generation and one after it. All methods have a default,
/// so a mode implements only those that it needs.
///
/// A hook receives the [`Moment`] (client, conversation, role, memory) and the [`Payload`], and
/// returns a [`HookOutcome`]. It may be dropped at any `await`; payloads accepted with
/// [`Moment::accept`] before that remain in effect.
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
        let plain = whole.split('<').next().unwrap_or(whole);
        plain.rsplit("::").next().unwrap_or(plain)
    }

    /// Returns which hooks are called. A mode with [`Hooks::BEFORE`] doesn't interrupt streaming,
    /// whereas [`after`](Self::after) needs the whole draft first. [`Hooks::NONE`] disables the
    /// mode.
    ///
    /// The default is [`Hooks::BOTH`].
    fn hooks(&self) -> Hooks {
        Hooks::BOTH
    }

    /// Returns what happens if one of the hooks fails.
    ///
    /// The default is [`OnFailure::Keep`].
    fn on_failure(&self) -> OnFailure {
        OnFailure::Keep
    }

    /// Processes the user's message before it is sent to the model. It is only called if the
    /// conversation ends with a user message, not if it ends with tool results.
    ///
    /// The default returns [`HookOutcome::Keep`].
    ///
    /// # Errors
    ///
    /// Returns an error if the hook fails; [`on_failure`](Self::on_failure) determines the effect.
    async fn before(
        &self,
        moment: &Moment<'_>,
        payload: &Payload,
    ) -> Result<HookOutcome, ThinkingError> {
        let _ = (moment, payload);
        Ok(HookOutcome::Keep)
    }

    /// Processes the draft before it is returned to the program.
    ///
    /// The default returns [`HookOutcome::Keep`].
    ///
    /// # Errors
    ///
    /// Returns an error if the hook fails; [`on_failure`](Self::on_failure) determines the effect.
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
