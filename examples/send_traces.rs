//! Spans of a run, as OpenTelemetry has them: the run, its steps, the calls to the model and to
//! tools. They are sent to the collector or viewer at `OTEL_EXPORTER_OTLP_ENDPOINT`, such as
//! `http://localhost:6006` for Phoenix, or printed if the variable isn't set.
//!
//! ```text
//! invoke_workflow trip (CHAIN)
//!   plan think (CHAIN)
//!     chat rules (LLM)
//!   plan think (CHAIN)
//!     chat rules (LLM)
//!   plan think (CHAIN)
//!     chat rules (LLM)
//!   plan think (CHAIN)
//!     chat rules (LLM)
//!   plan think (CHAIN)
//!     chat rules (LLM)
//!   plan think (CHAIN)
//!     chat rules (LLM)
//!     execute_tool calculate (TOOL)
//!     chat rules (LLM)
//!   plan think (CHAIN)
//!     chat rules (LLM)
//!   report (CHAIN)
//! ```

use std::env;
use std::error::Error;

use cogwork::cot::{ChainOfThought, Reasoning};
use cogwork::flow::{Action, Flow, Node, from_fn};
use cogwork::llm::layers::Tracing;
use cogwork::tools::schemars::{self, JsonSchema};
use cogwork::tools::{ToolError, Tools, function};
use cogwork_quickstart::{RuleBasedClient, calculate, model};
use opentelemetry::trace::{SpanId, TracerProvider};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use serde::Deserialize;
use tracing_subscriber::Registry;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;

struct Trip {
    reasoning: Reasoning,
    report: String,
}

#[derive(Deserialize, JsonSchema)]
struct Expression {
    /// What to calculate, such as `2 * (3 + 4)`.
    expression: String,
}

fn tools() -> Result<Tools, ToolError> {
    let calculate = function(
        "calculate",
        "Calculates an expression.",
        |Expression { expression }| async move { calculate(&expression).map_err(ToolError::failed) },
    );

    Tools::new().with(calculate)
}

fn flow() -> Result<Flow<Trip>, Box<dyn Error>> {
    let client = Tracing::new(model(RuleBasedClient::new())?)
        .with_model("rules")
        .with_content(true);
    let thinker = ChainOfThought::new(client)
        .with_tools(tools()?)
        .focus(|trip: &mut Trip| &mut trip.reasoning);
    let report = from_fn(|trip: &mut Trip| {
        let answer = trip.reasoning.solution().unwrap_or("no answer");
        trip.report = format!("Answer: {answer}");
    });

    let flow = Flow::builder("trip")
        .start("think")
        .node("think", thinker)
        .edge("think", ChainOfThought::CONTINUE, "think")
        .edge("think", ChainOfThought::END, "report")
        .node("report", report)
        .end("report", Action::DEFAULT)
        .build()?;

    Ok(flow)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let printed = InMemorySpanExporter::default();
    let provider = provider(&printed)?;

    let spans = tracing_opentelemetry::layer().with_tracer(provider.tracer("cogwork"));
    let subscriber = Registry::default().with(LevelFilter::INFO).with(spans);
    tracing::subscriber::set_global_default(subscriber)?;

    let mut trip = Trip {
        reasoning: Reasoning::new("What is (17 + 4) * 3?"),
        report: String::new(),
    };
    let flow = flow()?;
    flow.begin().with_id("trip 1").finish(&mut trip).await?;

    // Exporters of OpenTelemetry block, so they must not run on a thread of the runtime.
    let flushed = provider.clone();
    tokio::task::spawn_blocking(move || flushed.force_flush()).await??;

    let mut spans = printed.get_finished_spans()?;
    spans.sort_by_key(|span| span.start_time);
    print(&spans, SpanId::INVALID, 0);

    tokio::task::spawn_blocking(move || provider.shutdown()).await??;
    Ok(())
}

/// Returns a provider that sends spans to the endpoint in the environment, or keeps them.
fn provider(printed: &InMemorySpanExporter) -> Result<SdkTracerProvider, Box<dyn Error>> {
    let resource = Resource::builder().with_service_name("trip").build();
    let provider = SdkTracerProvider::builder().with_resource(resource);

    if env::var_os("OTEL_EXPORTER_OTLP_ENDPOINT").is_none() {
        return Ok(provider.with_simple_exporter(printed.clone()).build());
    }

    // The client is built without a provider of TLS. A second one is refused.
    let _ = rustls::crypto::ring::default_provider().install_default();

    let sent = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .build()?;
    Ok(provider.with_batch_exporter(sent).build())
}

/// Prints the children of a span, and theirs.
fn print(spans: &[SpanData], parent: SpanId, depth: usize) {
    for span in spans.iter().filter(|span| span.parent_span_id == parent) {
        let kind = span
            .attributes
            .iter()
            .find(|attribute| attribute.key.as_str() == "openinference.span.kind");
        let kind = kind.map(|kind| kind.value.to_string()).unwrap_or_default();

        println!("{}{} ({kind})", "  ".repeat(depth), span.name);
        print(spans, span.span_context.span_id(), depth + 1);
    }
}
