//! The spans of calls.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_llm::ToolCall;
use cogwork_tools::{ToolError, Tools, function};
use insta::assert_snapshot;
use schemars::JsonSchema;
use serde::Deserialize;
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

fn tools() -> Tools {
    let count = |rows: Rows| async move {
        match rows.table.as_str() {
            "slow" => tokio::time::sleep(Duration::from_secs(60)).await,
            "secrets" => return Err(ToolError::failed("secrets are not counted")),
            _ => {}
        }
        Ok(42)
    };
    let count = function("count", "Counts rows.", count);
    Tools::new().with(count).unwrap()
}

#[tokio::test(start_paused = true)]
async fn calls_are_spans_without_what_was_said() {
    let tools = tools();
    let written = spans(async {
        for table in ["people", "secrets", "slow"] {
            let rows = format!(r#"{{"table": "{table}"}}"#);
            let _ = tools.call(&ToolCall::new("call_1", "count", rows)).await;
        }
        let _ = tools.call(&ToolCall::new("call_2", "count", "{}")).await;
    });
    assert_snapshot!(written.await);
}
