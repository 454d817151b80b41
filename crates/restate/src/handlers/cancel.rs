use restate_sdk::endpoint::ContextInternal;

use super::progress::of_run;
use super::run::INVOCATION;
use crate::outcome::{Handled, RawJson};

/// Cancels a run. Returns whether there was a run that hadn't ended.
pub(crate) async fn cancel(context: &ContextInternal) -> Handled {
    let ((), _) = context.input::<()>().await;
    let is_running = of_run(context).await?.is_some_and(|run| !run.is_over());
    let invocation: Option<String> = context.get(INVOCATION).await?;

    // An invocation that has ended keeps its id in the state.
    let running = invocation.filter(|_| is_running);
    if let Some(invocation) = &running {
        context.cancel_invocation(invocation);
    }

    Ok(RawJson::of(&running.is_some())?)
}
