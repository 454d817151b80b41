//! The spans of calls.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_llm::ToolCall;
use cogwork_tools::{ToolError, Tools, function};
use insta::assert_snapshot;
use schemars::JsonSchema;
use serde::Deserialize;
use tracing::{Instrument, info_span};
use tracing_subscriber::fmt::format::FmtSpan;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a line for each span that was closed.
async fn spans<T>(work: impl Future<Output = T>) -> String {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(move || writer.clone())
        .without_time()
        .with_ansi(false)
        .with_target(false)
        .finish();

    let subscribed = tracing::subscriber::set_default(subscriber);
    work.await;
    drop(subscribed);

    let written = lines.0.lock().unwrap().clone();
    let text = String::from_utf8(written).unwrap();
    let lines = text
        .lines()
        .map(|line| line.split(": close").next().unwrap().trim());
    lines.collect::<Vec<_>>().join("\n")
}

#[derive(Deserialize, JsonSchema)]
struct Rows {
    table: String,
}

/// Counts rows with a query, which has a span of its own.
fn tools() -> Tools {
    let count = function("count", "Counts rows.", |rows: Rows| async move {
        async { tokio::time::sleep(Duration::from_millis(1)).await }
            .instrument(info_span!("query"))
            .await;

        match rows.table.as_str() {
            "slow" => {
                tokio::time::sleep(Duration::from_secs(60)).await;
                Ok(0)
            }
            "secrets" => Err(ToolError::failed("secrets are not counted")),
            _ => Ok(42),
        }
    });

    Tools::new().with(count).unwrap()
}

fn call(table: &str) -> ToolCall {
    ToolCall::new("call_1", "count", format!(r#"{{"table": "{table}"}}"#))
}

#[tokio::test(start_paused = true)]
async fn a_call_is_a_span_around_the_work_of_the_tool() {
    let tools = tools();

    assert_snapshot!(spans(tools.call(&call("people"))).await);
}

#[tokio::test(start_paused = true)]
async fn failed_calls_name_the_kind_of_error() {
    let tools = tools();

    let written = spans(async {
        tools.call(&call("secrets")).await.unwrap_err();
        tools.call(&call("slow")).await.unwrap_err();

        let wrong = ToolCall::new("call_2", "count", "{}");
        tools.call(&wrong).await.unwrap_err();
    })
    .await;

    let of_calls = written.lines().filter(|line| !line.ends_with("query"));
    assert_snapshot!(of_calls.collect::<Vec<_>>().join("\n"));
}

#[tokio::test(start_paused = true)]
async fn arguments_and_results_are_written_only_when_asked_for() {
    let silent = spans(tools().call(&call("people"))).await;
    let is_silent = !silent.contains("people") && !silent.contains("42");
    assert!(is_silent, "{silent}");

    let tools = tools().with_traced_content(true);
    let written = spans(tools.call(&call("people"))).await;
    assert_snapshot!(written.lines().last().unwrap());
}
