//! Tokens where nobody has counted them: one for every four bytes, which for English is a little
//! much and for code a little few. Good for a limit, not for a bill.

use crate::{ChatRequest, Message, ToolCall, ToolDefinition};

/// What a model reads of an image or a file, in bytes of text: about a thousand tokens, whatever its size.
const BLOCK: usize = 4_000;

/// Tokens of a conversation and of the tools it may use.
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

/// Tokens of this many bytes of text.
pub(crate) fn of_bytes(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}
