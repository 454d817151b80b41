use bytes::Bytes;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::TerminalError;
use restate_sdk::serde::Json;

use crate::journal::PROGRESS;
use crate::outcome::{Handled, RawJson};
use crate::progress::RunProgress;

/// Returns the progress of a run, or `null` if the run hasn't begun.
pub(crate) async fn progress(context: &ContextInternal) -> Handled {
    let ((), _) = context.input::<()>().await;
    let progress: Option<RawJson> = context.get(PROGRESS).await?;
    Ok(progress.unwrap_or(RawJson(Bytes::from_static(b"null"))))
}

pub(crate) async fn of_run(
    context: &ContextInternal,
) -> Result<Option<RunProgress>, TerminalError> {
    let progress: Option<Json<RunProgress>> = context.get(PROGRESS).await?;
    Ok(progress.map(Json::into_inner))
}
