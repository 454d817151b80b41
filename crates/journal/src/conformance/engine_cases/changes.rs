//! Flows that change while a run is in progress.

use super::reference::Reference;
use crate::conformance::broken_promise::{Checked, unexpected};
use crate::conformance::flows;
use crate::conformance::trial::{Trial, unique};
use crate::conformance::{RefusalKind, TestedEngine};

pub(super) async fn refused(engine: &dyn TestedEngine) -> Checked {
    let kind = flows::A_CHECKED_LOOP;
    let reference = Reference::of(&kind).await?;
    let mut trial = Trial::new(engine, unique("changed"), kind.define, kind.input)?;
    trial.crash_at(3).await?;

    let old = std::sync::Arc::clone(&trial.attempt.flow);
    let changed = flows::changed_loop(&trial.world)?;
    trial.with_flow(changed);
    let at = "a run whose flow has changed";
    match trial.proceed().await {
        Err(refusal) if refusal.kind == RefusalKind::AnotherFlow => {
            if !refusal.error.contains("examine") {
                return unexpected(at, "an error that names `examine`", &refusal);
            }
        }
        Err(refusal) => return unexpected(at, "the refusal `AnotherFlow`", &refusal),
        Ok(stopped) => {
            return unexpected(at, "the refusal `AnotherFlow`", &stopped);
        }
    }

    trial.attempt.flow = old;
    let end = trial.until_the_end().await?;
    reference.check_end(&end)?;
    trial.check_calls(1)
}
