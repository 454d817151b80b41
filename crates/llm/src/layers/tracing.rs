use futures_util::stream;
#[cfg(feature = "opentelemetry")]
use opentelemetry::{StringValue, trace::TraceContextExt};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use tracing::field::{DisplayValue, Empty, display};
use tracing::{Instrument, Span};
#[cfg(feature = "opentelemetry")]
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::reply::{client_from_reply, reply_of};
use crate::{
    Block, ChatRequest, ChatResponse, Delta, FinishReason, LlmClient, LlmError, Message,
    ReplyStream, ToolCall, ToolDefinition,
};

/// A client that creates a `tracing` span for every call to another one, with the field names of the
/// [OpenTelemetry conventions](https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/).
///
/// The span is named `chat`, has the level `INFO`, and lasts until the reply is complete, even if
/// it is streamed. Its fields are the settings of the request (`gen_ai.request.*`), and either the
/// response (`gen_ai.response.*`, `gen_ai.usage.*`) or `error.type`. The conversation isn't
/// included by default; see [`with_content`](Self::with_content).
///
/// Around a [`Retry`](crate::layers::Retry), it creates one span for all attempts; inside it, one per
/// attempt.
///
/// ```
/// use cogwork_llm::layers::Tracing;
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, ScriptedClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let client = Tracing::new(ScriptedClient::new(["Hi."])).with_provider("openai").with_model("gpt-4.1-mini");
/// assert_eq!(client.complete(ChatRequest::default()).await?.text(), "Hi.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Tracing<C> {
    client: C,
    provider: Option<String>,
    model: Option<String>,
    with_content: bool,
}

impl<C> Tracing<C> {
    /// Wraps `client`.
    pub fn new(client: C) -> Self {
        Self {
            client,
            provider: None,
            model: None,
            with_content: false,
        }
    }

    /// Sets `gen_ai.provider.name`, such as `openai` or `anthropic`. Omitted by default.
    #[must_use]
    pub fn with_provider(mut self, name: impl Into<String>) -> Self {
        self.provider = Some(name.into());
        self
    }

    /// Sets `gen_ai.request.model`, the requested model. Omitted by default.
    #[must_use]
    pub fn with_model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Sets whether the span includes the conversation, the tools and the reply, as
    /// `gen_ai.input.messages`, `gen_ai.tool.definitions` and `gen_ai.output.messages`. They may
    /// contain confidential data. Only the type and the size of images and files are included.
    ///
    /// The default is `false`.
    #[must_use]
    pub fn with_content(mut self, with_content: bool) -> Self {
        self.with_content = with_content;
        self
    }

    fn trace(&self, request: &ChatRequest, streamed: bool) -> Trace {
        let span = tracing::info_span!(
            "chat",
            // A field that isn't declared when the span is created cannot be recorded later.
            "otel.name" = Empty,
            "otel.kind" = "client",
            "otel.status_code" = Empty,
            "gen_ai.operation.name" = "chat",
            "gen_ai.provider.name" = self.provider.as_deref(),
            "gen_ai.request.model" = self.model.as_deref(),
            "gen_ai.request.stream" = streamed.then_some(true),
            "gen_ai.request.max_tokens" = request.max_tokens(),
            "gen_ai.request.temperature" = request.temperature().map(display),
            "gen_ai.request.seed" = request.seed(),
            "gen_ai.request.stop_sequences" = Empty,
            "gen_ai.input.messages" = Empty,
            "gen_ai.output.messages" = Empty,
            "gen_ai.tool.definitions" = Empty,
            "gen_ai.response.id" = Empty,
            "gen_ai.response.model" = Empty,
            "gen_ai.response.finish_reasons" = Empty,
            "gen_ai.response.time_to_first_chunk" = Empty,
            "gen_ai.usage.input_tokens" = Empty,
            "gen_ai.usage.output_tokens" = Empty,
            "gen_ai.usage.cache_read.input_tokens" = Empty,
            "gen_ai.usage.reasoning.output_tokens" = Empty,
            // Viewers of OpenInference, such as Phoenix, know a call of a model by this.
            "openinference.span.kind" = "LLM",
            "error.type" = Empty,
        );

        let name = self.model.as_ref().map(|model| format!("chat {model}"));
        record(&span, "otel.name", name.map(display));
        record(&span, "gen_ai.request.stop_sequences", list(request.stop()));
        // Writing a long conversation as JSON takes time, even if nobody reads it.
        if self.with_content && !span.is_disabled() {
            let messages: Vec<_> = request.messages().iter().map(of_message).collect();
            let tools: Vec<_> = request.tools().iter().map(of_tool).collect();

            span.record("gen_ai.input.messages", display(json!(messages)));
            record(&span, "gen_ai.tool.definitions", list(&tools));
        }

        Trace {
            span,
            started: Instant::now(),
            with_content: self.with_content,
        }
    }
}

/// Returns the value of a field, unless the list is empty.
fn list<T: Serialize>(values: &[T]) -> Option<DisplayValue<Value>> {
    (!values.is_empty()).then(|| display(json!(values)))
}

/// Records a field that has a value.
fn record(span: &Span, name: &str, value: Option<impl tracing::Value>) {
    if let Some(value) = value {
        span.record(name, value);
    }
}

/// The span of one call.
struct Trace {
    span: Span,
    started: Instant,
    with_content: bool,
}

impl Trace {
    fn record(&self, response: &ChatResponse) {
        let span = &self.span;
        record(span, "gen_ai.response.id", response.id());
        record(span, "gen_ai.response.model", response.model());

        let reason = match response.finish_reason() {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Other(reason) => reason,
        };
        record_finish_reason(span, reason);
        if let Some(usage) = response.usage() {
            span.record("gen_ai.usage.input_tokens", usage.prompt_tokens);
            span.record("gen_ai.usage.output_tokens", usage.completion_tokens);
            span.record("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens);
            span.record(
                "gen_ai.usage.reasoning.output_tokens",
                usage.reasoning_tokens,
            );
        }

        if self.with_content && !span.is_disabled() {
            let said = of_response(response, reason);
            span.record("gen_ai.output.messages", display(json!([said])));
        }
    }
}

/// Records the reason as an array where spans are sent with OpenTelemetry, and otherwise as its
/// JSON, since fields of `tracing` hold no arrays.
fn record_finish_reason(span: &Span, reason: &str) {
    const NAME: &str = "gen_ai.response.finish_reasons";

    #[cfg(feature = "opentelemetry")]
    if span.context().span().span_context().is_valid() {
        let reasons = vec![StringValue::from(reason.to_owned())];
        span.set_attribute(NAME, opentelemetry::Value::Array(reasons.into()));
        return;
    }

    span.record(NAME, display(json!([reason])));
}

fn record_failure(span: &Span, error: &LlmError) {
    span.record("error.type", error.kind().to_string().replace(' ', "_"));
    span.record("otel.status_code", "ERROR");
}

impl<C: LlmClient> Tracing<C> {
    async fn reply(&self, request: ChatRequest, streamed: bool) -> Result<ReplyStream, LlmError> {
        let trace = self.trace(&request, streamed);
        let reply = reply_of(&self.client, request, streamed)
            .instrument(trace.span.clone())
            .await
            .inspect_err(|error| record_failure(&trace.span, error))?;

        Ok(ReplyStream::new(stream::unfold(
            (reply, trace, streamed),
            |(mut reply, trace, is_first)| async move {
                // Spans of the client inside belong into this one, also while the reply is read.
                let delta = reply.next().instrument(trace.span.clone()).await?;
                if is_first {
                    let seconds = trace.started.elapsed().as_secs_f64();
                    trace
                        .span
                        .record("gen_ai.response.time_to_first_chunk", seconds);
                }

                match &delta {
                    Ok(Delta::End(response)) => trace.record(response),
                    Err(error) => record_failure(&trace.span, error),
                    Ok(_) => {}
                }

                Some((delta, (reply, trace, false)))
            },
        )))
    }
}

client_from_reply!(Tracing);

// The content of messages in the format of the OpenTelemetry conventions:
// https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/

fn of_message(message: &Message) -> Value {
    let mut parts: Vec<Value> = message.blocks().iter().map(of_block).collect();
    match message.tool_call_id() {
        Some(id) => parts
            .push(json!({ "type": "tool_call_response", "id": id, "response": message.text() })),
        None => parts.extend(text("text", message.text())),
    }

    parts.extend(message.tool_calls().iter().map(of_call));
    json!({ "role": message.role().as_str(), "parts": parts })
}

fn of_response(response: &ChatResponse, finish_reason: &str) -> Value {
    let reasoning = text("reasoning", response.reasoning().unwrap_or_default());
    let calls = response.tool_calls().iter().map(of_call);
    let parts = reasoning.into_iter().chain(text("text", response.text()));
    let parts: Vec<Value> = parts.chain(calls).collect();

    json!({ "role": "assistant", "parts": parts, "finish_reason": finish_reason })
}

fn of_tool(tool: &ToolDefinition) -> Value {
    json!({
        "type": "function",
        "name": tool.name(),
        "description": tool.description(),
        "parameters": json_or_text(tool.input_schema()),
    })
}

fn text(kind: &str, content: &str) -> Option<Value> {
    (!content.is_empty()).then(|| json!({ "type": kind, "content": content }))
}

fn of_call(call: &ToolCall) -> Value {
    let arguments = json_or_text(call.arguments());
    json!({ "type": "tool_call", "id": call.id(), "name": call.name(), "arguments": arguments })
}

/// Omits the data, which may be megabytes.
fn of_block(block: &Block) -> Value {
    match block {
        Block::Image { media_type, data } => {
            json!({ "type": "blob", "modality": "image", "mime_type": media_type, "characters": data.len() })
        }
        Block::ImageUrl { url } => json!({ "type": "uri", "modality": "image", "uri": url }),
        Block::File {
            name,
            media_type,
            data,
        } => {
            json!({ "type": "blob", "mime_type": media_type, "name": name, "characters": data.len() })
        }
    }
}

/// The model's arguments may be invalid JSON.
fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}
