use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::draw::FlowGraph;
use cogwork_flow::{Run, RunError};
use cogwork_text::{ErrorText, Name};
use restate_sdk::context::RunFuture;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::{HandlerError, TerminalError};
use restate_sdk::serde::Json;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::journal::RunJournal;
use crate::outcome::{Handled, RawJson, shortened};
use crate::settings::Inner;
use crate::stopped::{Stopped, code};
use crate::timers::now;

/// The name of the state with the id of the invocation, which is needed to cancel it.
pub(crate) const INVOCATION: &str = "invocation";

/// The first entry of each run.
#[derive(Serialize, Deserialize)]
struct Began {
    graph: FlowGraph,
    /// In milliseconds since 1970.
    at: u64,
}

const BEGAN: &str = "began";

/// Runs the flow from its start; recorded outcomes are used again.
pub(crate) async fn run<S>(inner: &Inner<S>, context: &ContextInternal) -> Handled
where
    S: Serialize + DeserializeOwned + Send + 'static,
{
    let (RawJson(input), metadata) = context.input().await;
    let key = metadata.key;
    let mut state: S = serde_json::from_slice(&input).map_err(|error| {
        let problem = format!(
            "the state of the run `{}` cannot be read: {error}",
            Name(&key)
        );
        TerminalError::new_with_code(code::UNREADABLE, problem)
    })?;

    // The first entry, so that a changed flow is refused before it makes calls in a different
    // order.
    let began = begin(inner, context).await?;
    // Before any step: a replay against a different flow would use outcomes of other nodes.
    check_graph(&inner.graph, &began.graph, &key)?;
    // Cancelling needs it, and only the run itself knows it.
    context.set(INVOCATION, metadata.invocation_id);

    // Counted from the start on record, and not from this attempt.
    let until = inner.settings.deadline.map(|deadline| {
        let deadline = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
        // From the recorded beginning, since a replay may come days later.
        began.at.saturating_add(deadline)
    });
    let mut run = configured(inner, until);
    if let Some(events) = &inner.settings.events
        && let Some(sink) = events(key.clone()).await
    {
        run = run.with_events(sink);
    }
    let start = run.node().unwrap_or_default();
    let journal = Arc::new(RunJournal::new(&key, context, until, start));

    let mut run = run.with_journal(Arc::clone(&journal));
    let finished = run.finish(&mut state).await;
    let output = match finished {
        Ok(_) => output(&state, inner.settings.max_message),
        Err(error) => Err(ended_by(error)),
    };

    // While the context is still there to write with.
    if let Err(error) = &output {
        let failed = shortened(&ErrorText(error.message()).to_string());
        journal.show(|progress| progress.failed = Some(failed));
    }

    // The context must not be used after the handler has ended.
    journal.close();
    Ok(output?)
}

async fn begin<S>(inner: &Inner<S>, context: &ContextInternal) -> Result<Began, TerminalError> {
    let began = || async {
        Ok::<_, HandlerError>(Json(Began {
            graph: inner.graph.clone(),
            at: u64::try_from(now().as_millis()).unwrap_or(u64::MAX),
        }))
    };

    let began = context.run(began).name(BEGAN).await?;
    Ok(began.into_inner())
}

/// Refuses a run of a different flow. Restate repeats the attempt, since the error isn't final.
fn check_graph(served: &FlowGraph, recorded: &FlowGraph, key: &str) -> Result<(), HandlerError> {
    let Some(difference) = served.difference(recorded) else {
        return Ok(());
    };

    let problem = format!(
        "the run `{}` began with a different flow ({difference}); serve that flow at this address \
         again, and the changed one at a new address",
        Name(key)
    );
    // Not terminal: Restate retries until the old flow is served again.
    Err(problem.into())
}

fn configured<S: Send + 'static>(inner: &Inner<S>, until: Option<u64>) -> Run<'_, S> {
    let settings = &inner.settings;
    let run = inner
        .flow
        .begin()
        .with_max_steps(settings.max_steps)
        .with_max_outcome(settings.max_message);

    let left = until.map(|until| Duration::from_millis(until).saturating_sub(now()));
    match left.and_then(|left| Instant::now().checked_add(left)) {
        Some(deadline) => run.with_deadline(deadline),
        None => run,
    }
}

fn output<S: Serialize>(state: &S, max: usize) -> Result<RawJson, TerminalError> {
    let output = RawJson::of(state).map_err(|error| {
        let problem = format!("the final state cannot be written as JSON: {error}");
        TerminalError::new_with_code(code::FAILED, problem)
    })?;

    let size = output.0.len();
    if size > max {
        let problem = format!("the final state has {size} bytes; at most {max} are allowed");
        return Err(TerminalError::new_with_code(code::TOO_LARGE, problem));
    }

    Ok(output)
}

/// Returns the final result of a run that stopped.
fn ended_by(error: RunError) -> TerminalError {
    let status = match error.downcast_ref() {
        // A cancellation by Restate stays one.
        Some(Stopped::ByEngine { code, .. }) => *code,
        Some(Stopped::Deadline) => code::DEADLINE,
        Some(Stopped::HandlerEnded) => code::FAILED,
        None if error.is_deadline() => code::DEADLINE,
        None => code::FAILED,
    };

    let message = match status {
        code::CANCELLED => format!("the run was cancelled at the node `{}`", Name(error.node())),
        _ => error.to_string(),
    };
    TerminalError::new_with_code(status, shortened(&message))
}
