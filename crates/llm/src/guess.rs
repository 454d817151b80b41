//! Token estimates: one token per four bytes, which is slightly high for English and slightly low
//! for code. For limits, not for billing.

use crate::{ChatRequest, Message, ToolCall, ToolDefinition};

/// The estimated size of an image or a file, in bytes of text: about a thousand tokens.
const BLOCK: usize = 4_000;

/// Estimates the tokens of a conversation and its tools.
pub(crate) fn of_request(request: &ChatRequest) -> u64 {
    let said = request.messages().iter().map(of_message);
    let tools = request.tools().iter().map(ToolDefinition::bytes);
    of_bytes(said.chain(tools).fold(0, usize::saturating_add))
}

fn of_message(message: &Message) -> usize {
    let calls = message.tool_calls().iter().map(ToolCall::bytes);
    let blocks = message.blocks().iter().map(|_| BLOCK);
    calls
        .chain(blocks)
        .fold(message.text().len(), usize::saturating_add)
}

/// Estimates the tokens of a text of this many bytes.
pub(crate) fn of_bytes(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}
