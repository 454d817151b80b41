use std::fmt;
use std::time::Duration;

use cogwork_flow::report_from;
use serde::Serialize;
use tokio::time::Instant;

use super::event::seconds;

/// The source of these events, in the events of a run.
const SOURCE: &str = "tool";

/// An event of a call to a tool. The events are the [reports](cogwork_flow::EventKind::Reported) with
/// the source `tool` in the events of a run.
///
/// The calls of a chain of thought are reported as its own events instead. Calls whose result is on
/// record, so that they aren't made again, aren't reported.
///
/// An event is serialised as one object with a `type`, `tool_call` or `tool_result`. Later versions
/// may add types and fields; readers should ignore those that they don't know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolEvent {
    /// A tool is called.
    ToolCall {
        /// The id of the call.
        id: String,
        /// The name of the tool, as the model wrote it.
        name: String,
        /// The input, as the model wrote it; usually a JSON object.
        input: String,
    },
    /// A tool returned or failed.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The name of the tool, as the model wrote it.
        name: String,
        /// The output, or a description of the failure.
        output: String,
        /// Whether the call failed.
        failed: bool,
        /// How long the call took; in JSON, in seconds.
        #[serde(serialize_with = "seconds")]
        took: Duration,
    },
}

/// Makes a call to a tool, and reports it in the events of the run as [`ToolEvent`]s. `input` isn't
/// called if the run isn't watched.
///
/// # Errors
///
/// Returns the error of the call.
pub async fn report_tool_call<T: AsRef<str>, E: fmt::Display>(
    id: &str,
    name: &str,
    input: impl FnOnce() -> String,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    report_from(SOURCE, || ToolEvent::ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        input: input(),
    });

    let started = Instant::now();
    let result = work.await;

    report_from(SOURCE, || ToolEvent::ToolResult {
        id: id.to_owned(),
        name: name.to_owned(),
        output: match &result {
            Ok(output) => output.as_ref().to_owned(),
            Err(error) => error.to_string(),
        },
        failed: result.is_err(),
        took: started.elapsed(),
    });

    result
}
