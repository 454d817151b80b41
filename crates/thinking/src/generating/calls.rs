//! Calls of hooks, and the effects of their outcomes.

use cogwork_llm::{LlmError, LlmErrorKind};
use cogwork_text::{Name, OneLine};

use super::Generating;
use crate::answer::Effect;
use crate::run;
use crate::{Hook, HookOutcome, OnFailure, Outcome, Payload, ThinkingError, ThinkingMode};

impl Generating<'_> {
    /// Calls a hook and returns the effect of its outcome or its failure.
    pub(super) async fn call(
        &self,
        mode: &dyn ThinkingMode,
        hook: Hook,
        payload: &Payload,
        tries_left: u32,
    ) -> Result<Effect, LlmError> {
        let moment = self.moment(mode, hook, &self.input);
        self.closing.ledger.open();
        let verdict = run::hook(mode, &moment, payload).await;
        let verdict = verdict.and_then(|outcome| self.allowed(outcome, hook, tries_left));

        match verdict {
            Ok(outcome) => self.effect(mode, hook, payload, outcome),
            Err(error) => self.failed(mode, hook, payload, error),
        }
    }

    fn allowed(
        &self,
        outcome: HookOutcome,
        hook: Hook,
        tries_left: u32,
    ) -> Result<HookOutcome, ThinkingError> {
        if !matches!(outcome, HookOutcome::TryAgain(_)) {
            return Ok(outcome);
        }

        if hook == Hook::Before {
            let message = "it requested a further draft before there was one";
            return Err(ThinkingError::Misplaced(message.to_owned()));
        }

        if tries_left == 0 {
            let most = self.tries;
            let message = format!("it requested a further draft; expected at most {most}");
            return Err(ThinkingError::Misplaced(message));
        }

        Ok(outcome)
    }

    fn effect(
        &self,
        mode: &dyn ThinkingMode,
        hook: Hook,
        payload: &Payload,
        outcome: HookOutcome,
    ) -> Result<Effect, LlmError> {
        let effect = match outcome {
            HookOutcome::Keep => Effect::Kept,
            HookOutcome::ReplaceText(text) => Effect::of(payload, payload.clone().with_text(text)),
            HookOutcome::Replace(whole) => Effect::of(payload, whole),
            HookOutcome::TryAgain(messages) => Effect::Again(messages),
            HookOutcome::Fail(reason) => {
                let error = refusal(mode.name(), hook, &reason);
                self.close(mode, hook, Outcome::Refused(reason));
                return Err(error);
            }
        };

        self.close(
            mode,
            hook,
            match &effect {
                Effect::Kept => Outcome::Kept,
                Effect::Changed(change) if change.is_replaced => Outcome::Replaced,
                Effect::Changed(_) => Outcome::Appended,
                Effect::Again(_) => Outcome::TriedAgain,
            },
        );
        Ok(effect)
    }

    fn failed(
        &self,
        mode: &dyn ThinkingMode,
        hook: Hook,
        payload: &Payload,
        error: ThinkingError,
    ) -> Result<Effect, LlmError> {
        let accepted = self.close(mode, hook, Outcome::Failed(error.to_string()));
        if mode.on_failure() == OnFailure::Fail {
            return Err(error.into_llm_error(mode.name(), hook));
        }

        Ok(match accepted {
            Some(accepted) => Effect::of(payload, accepted),
            None => Effect::Kept,
        })
    }

    fn close(&self, mode: &dyn ThinkingMode, hook: Hook, outcome: Outcome) -> Option<Payload> {
        self.closing.ledger.close(mode.name(), hook, outcome)
    }
}

fn refusal(mode: &str, hook: Hook, reason: &str) -> LlmError {
    let mode = Name(mode);
    let reason = OneLine::new(reason).with_max_chars(500);
    let what = match hook {
        Hook::Before => "the request",
        Hook::After => "the answer",
    };

    let message = format!("the thinking mode `{mode}` refused {what}: {reason}");
    LlmError::new(LlmErrorKind::Other, message)
}
