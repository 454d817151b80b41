//! Calls to models as they are recorded.

use std::time::Duration;

use cogwork_ask::{ChatVerdict, EmbeddingCall, PlacedRepair};
use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, Message, Prices, ReplyFormat, ToolCall,
    ToolDefinition, Usage,
};

use crate::{
    RecordedBlock, RecordedChat, RecordedEmbedding, RecordedMessage, RecordedRepair,
    RecordedSettings, RecordedTool, RecordedToolCall, RecordedTools, RecordedUsage,
};

pub(super) fn message(id: u64, message: &Message) -> RecordedMessage {
    RecordedMessage {
        id,
        role: message.role().as_str().to_owned(),
        content: message.text().to_owned(),
        blocks: message.blocks().iter().map(block).collect(),
        tool_calls: message.tool_calls().iter().map(tool_call).collect(),
        tool_call_id: message.tool_call_id().map(str::to_owned),
        tool_name: message.tool_name().map(str::to_owned),
        failed: message.is_tool_failure(),
        ..RecordedMessage::default()
    }
}

pub(super) fn tools(id: u64, tools: &[ToolDefinition]) -> RecordedTools {
    let tools = tools.iter().map(|tool| RecordedTool {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        input_schema: tool.input_schema().to_owned(),
        ..RecordedTool::default()
    });

    RecordedTools {
        id,
        tools: tools.collect(),
        ..RecordedTools::default()
    }
}

fn block(block: &Block) -> RecordedBlock {
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

    RecordedBlock {
        kind: kind.to_owned(),
        media_type: media_type.map(|text| text.to_string()),
        name: name.map(|text| text.to_string()),
        bytes: bytes as u64,
    }
}

fn tool_call(call: &ToolCall) -> RecordedToolCall {
    RecordedToolCall {
        id: call.id().to_owned(),
        name: call.name().to_owned(),
        arguments: call.arguments().to_owned(),
    }
}

/// Returns the settings of a request, which offers the tools of this list.
pub(super) fn settings(request: &ChatRequest, tools: Option<u64>) -> RecordedSettings {
    let format = request.format().map(|format| match format {
        ReplyFormat::Json => "json",
        ReplyFormat::Schema { .. } => "schema",
        _ => "other",
    });

    RecordedSettings {
        // The shortest decimal form of the number, as the program wrote it.
        temperature: request
            .temperature()
            .and_then(|number| number.to_string().parse().ok()),
        max_tokens: request.max_tokens(),
        effort: request.effort().map(|effort| effort.as_str().to_owned()),
        seed: request.seed(),
        stop: request.stop().to_vec(),
        format: format.map(str::to_owned),
        tools,
    }
}

/// Returns the reply to a call, without the fields of the call.
pub(super) fn reply(
    response: &ChatResponse,
    took: Duration,
    prices: Option<&Prices>,
) -> RecordedChat {
    let model = response.model();
    RecordedChat {
        model: model.map(str::to_owned),
        took: took.as_secs_f64(),
        reply: response.text().to_owned(),
        thinking: response.reasoning().map(str::to_owned),
        tool_calls: response.tool_calls().iter().map(tool_call).collect(),
        finish: finish(response.finish_reason()).to_owned(),
        cost: cost(model, response.usage(), prices),
        usage: response.usage().map(usage),
        id: response.id().map(str::to_owned),
        adjustments: response
            .adjustments()
            .iter()
            .map(ToString::to_string)
            .collect(),
        ..RecordedChat::default()
    }
}

/// Returns a call to an embedding model, without its number.
pub(super) fn embedded(call: &EmbeddingCall, prices: Option<&Prices>) -> RecordedEmbedding {
    RecordedEmbedding {
        name: Some(call.name.clone()).filter(|name| !name.is_empty()),
        model: call.model.clone(),
        texts: call.texts.clone(),
        count: call.count as u64,
        bytes: call.bytes as u64,
        took: call.took.as_secs_f64(),
        cost: cost(Some(&call.model), call.usage, prices),
        usage: call.usage.map(usage),
        error: call.error.clone(),
        ..RecordedEmbedding::default()
    }
}

fn usage(usage: Usage) -> RecordedUsage {
    RecordedUsage {
        input: usage.prompt_tokens,
        output: usage.completion_tokens,
        cache_read: usage.cached_tokens,
        cache_write: usage.cache_written_tokens,
        reasoning: usage.reasoning_tokens,
    }
}

fn cost(model: Option<&str>, usage: Option<Usage>, prices: Option<&Prices>) -> Option<f64> {
    let cost = prices?.cost(model, usage?);

    // A price that is a mistake is infinite, which JSON cannot express.
    cost.is_finite().then(|| rounded(cost))
}

/// Removes the errors of adding, such as in `0.0008400000000000001`.
fn rounded(cost: f64) -> f64 {
    (cost * 1e12).round() / 1e12
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

pub(super) fn verdict(verdict: ChatVerdict) -> &'static str {
    match verdict {
        ChatVerdict::Usable => "usable",
        ChatVerdict::Continue => "continue",
        ChatVerdict::Questioned => "questioned",
        ChatVerdict::Unusable => "unusable",
        _ => "other",
    }
}

/// Returns repairs. They have no places in a reply that was redacted, in which other text would be
/// there.
pub(super) fn repairs(repairs: &[PlacedRepair], is_redacted: bool) -> Vec<RecordedRepair> {
    let mut recorded: Vec<_> = repairs.iter().map(repair).collect();

    if is_redacted {
        for repair in &mut recorded {
            repair.start = None;
            repair.end = None;
        }
    }

    recorded
}

fn repair(repair: &PlacedRepair) -> RecordedRepair {
    let kind = serde_json::to_value(repair.kind).unwrap_or_default();

    RecordedRepair {
        kind: kind.as_str().unwrap_or_default().to_owned(),
        what: repair.what.clone(),
        line: Some(repair.line as u64),
        start: repair.start.map(|at| at as u64),
        end: repair.end.map(|at| at as u64),
    }
}
