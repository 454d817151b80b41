use std::num::NonZeroU32;

use restate_sdk::context::{RunFuture, RunRetryPolicy};
use restate_sdk::errors::HandlerError;

use crate::stopped::Stopped;
use crate::timers::Timers;
use crate::tried::Tried;

/// Makes attempts until one succeeds or none is left, and records each. Attempts that are already
/// on record aren't made again.
pub(crate) async fn settle<F>(
    timers: Timers<'_>,
    name: &str,
    attempt: impl Fn(NonZeroU32) -> F + Send + Sync,
) -> Result<Tried, Stopped>
where
    F: Future<Output = Tried> + Send,
{
    let mut number = NonZeroU32::MIN;

    loop {
        let made = || async { Ok::<_, HandlerError>(attempt(number).await) };
        let tried = timers
            .context
            .run(made)
            .name(entry_name(name, number))
            .retry_policy(RunRetryPolicy::new().max_attempts(1))
            .await?;

        let delay = match &tried {
            Tried::Failed(failure) => failure.again_in(),
            Tried::Done(_) => None,
        };
        let Some(delay) = delay else {
            return Ok(tried);
        };

        timers.sleep(delay).await?;
        number = number.saturating_add(1);
    }
}

fn entry_name(step: &str, number: NonZeroU32) -> String {
    if number == NonZeroU32::MIN {
        return step.to_owned();
    }

    format!("{step}, attempt {number}")
}
