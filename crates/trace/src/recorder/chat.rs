//! Calls to models as they are recorded, in reports of the source `chat`. Absent fields are left out.

use std::time::Duration;

use cogwork_llm::layers::Prices;
use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, Message, ReplyFormat, ToolCall, ToolDefinition,
    Usage,
};
use cogwork_typed::ask::{ChatCall, ChatVerdict, Repair};
use serde_json::{Value, json};

use super::numbers::Sent;

/// The source of reports about calls to models.
pub(super) const SOURCE: &str = "chat";

/// A message of a request. Each distinct one is recorded once, with a number, before the first call that
/// sends it.
pub(super) fn message(message: &Message) -> Value {
    present(json!({
        "type": "message",
        "role": message.role().as_str(),
        "content": message.text(),
        "blocks": list(message.blocks().iter().map(block)),
        "tool_calls": list(message.tool_calls().iter().map(tool_call)),
        "tool_call_id": message.tool_call_id(),
        "tool_name": message.tool_name(),
        "failed": message.is_tool_failure().then_some(true),
    }))
}

/// An image or a file in a message, without its data.
fn block(block: &Block) -> Value {
    let (kind, media_type, name, bytes) = match block {
        Block::Image { media_type, data } => ("image", Some(media_type), None, data.len()),
        // An address may contain credentials.
        Block::ImageUrl { url } => ("image_url", None, None, url.len()),
        Block::File {
            name,
            media_type,
            data,
        } => ("file", Some(media_type), Some(name), data.len()),
        _ => ("other", None, None, 0),
    };

    present(json!({
        "kind": kind,
        "media_type": media_type.map(|text| text.to_string()),
        "name": name.map(|text| text.to_string()),
        "bytes": bytes,
    }))
}

fn tool_call(call: &ToolCall) -> Value {
    json!({ "id": call.id(), "name": call.name(), "arguments": call.arguments() })
}

/// The tools that a request offers. Each distinct list is recorded once, with a number.
pub(super) fn tools(tools: &[ToolDefinition]) -> Value {
    let tools = tools.iter().map(|tool| {
        present(json!({
            "name": tool.name(),
            "description": text(tool.description()),
            "input_schema": text(tool.input_schema()),
        }))
    });

    json!({ "type": "tools", "tools": tools.collect::<Vec<_>>() })
}

/// A call that returned a reply.
pub(super) fn reply(
    number: u64,
    call: &ChatCall,
    sent: &Sent,
    response: &ChatResponse,
    took: Duration,
    prices: &Prices,
) -> Value {
    let model = response.model();
    let adjustments = response.adjustments().iter();

    present(json!({
        "type": "chat",
        "call": number,
        "name": text(&call.name),
        "model": model,
        "messages": ranges(&sent.messages),
        "settings": settings(&call.request, sent.tools),
        "took": took.as_secs_f64(),
        "reply": response.text(),
        "thinking": response.reasoning(),
        "tool_calls": list(response.tool_calls().iter().map(tool_call)),
        "finish": finish(response.finish_reason()),
        "usage": response.usage().map(usage),
        "cost": cost(model, response.usage(), prices),
        "id": response.id(),
        "adjustments": list(adjustments.map(|adjustment| json!(adjustment.to_string()))),
    }))
}

/// A call that failed.
pub(super) fn failure(
    number: u64,
    call: &ChatCall,
    sent: &Sent,
    error: &str,
    text_so_far: &str,
    took: Duration,
) -> Value {
    present(json!({
        "type": "chat_failed",
        "call": number,
        "name": text(&call.name),
        "messages": ranges(&sent.messages),
        "settings": settings(&call.request, sent.tools),
        "took": took.as_secs_f64(),
        "error": error,
        "reply": text(text_so_far),
    }))
}

/// The verdict on a reply.
pub(super) fn judged(
    number: u64,
    verdict: ChatVerdict,
    problem: Option<&str>,
    repairs: &[Repair],
) -> Value {
    let verdict = match verdict {
        ChatVerdict::Usable => "usable",
        ChatVerdict::Continue => "continue",
        ChatVerdict::Unusable => "unusable",
        _ => "other",
    };
    present(json!({
        "type": "judged",
        "call": number,
        "verdict": verdict,
        "problem": problem,
        "repairs": list(repairs.iter().map(|repair| json!(repair))),
    }))
}

/// Returns the settings of a request, which offers the tools of this list.
fn settings(request: &ChatRequest, tools: Option<u64>) -> Value {
    let format = request.format().map(|format| match format {
        ReplyFormat::Json => "json",
        ReplyFormat::Schema { .. } => "schema",
        _ => "other",
    });
    // The shortest decimal form of the number, as the program wrote it.
    let temperature = request.temperature();
    let temperature: Option<f64> = temperature.and_then(|number| number.to_string().parse().ok());

    present(json!({
        "temperature": temperature,
        "effort": request.effort().map(|effort| effort.as_str()),
        "max_tokens": request.max_tokens(),
        "seed": request.seed(),
        "stop": list(request.stop().iter().map(|stop| json!(stop))),
        "format": format,
        "tools": tools,
    }))
}

fn usage(usage: Usage) -> Value {
    // Zero mostly means that the server doesn't count these.
    let positive = |tokens: u64| (tokens > 0).then_some(tokens);

    present(json!({
        "input": usage.prompt_tokens,
        "output": usage.completion_tokens,
        "cache_read": positive(usage.cached_tokens),
        "cache_write": positive(usage.cache_written_tokens),
        "reasoning": positive(usage.reasoning_tokens),
    }))
}

fn cost(model: Option<&str>, usage: Option<Usage>, prices: &Prices) -> Option<f64> {
    // A price that is a mistake is infinite, which JSON cannot express.
    let cost = prices.known_cost(model, usage?);
    cost.filter(|cost| cost.is_finite())
}

fn finish(reason: &FinishReason) -> &str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Other(reason) => reason,
        _ => "other",
    }
}

/// Returns the numbers of messages, in order. Conversations grow at their end, so consecutive numbers
/// are common, and three or more of them are written as `[first, last]`: `[0, [2, 40], 57]`.
fn ranges(numbers: &[u64]) -> Vec<Value> {
    let ranges = numbers.chunk_by(|before, after| before.checked_add(1) == Some(*after));

    ranges
        .flat_map(|range| match range {
            [first, _, .., last] => vec![json!([first, last])],
            few => few.iter().map(|number| json!(number)).collect(),
        })
        .collect()
}

/// Removes the fields of an object that are null.
fn present(mut object: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|_, value| !value.is_null());
    }

    object
}

/// Returns `None` for an empty list.
fn list(items: impl ExactSizeIterator<Item = Value>) -> Option<Vec<Value>> {
    (items.len() > 0).then(|| items.collect())
}

/// Returns `None` for an empty text.
fn text(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
