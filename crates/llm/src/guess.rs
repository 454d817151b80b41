//! Tokens where nobody has counted them: one for every four bytes, which for English is a little
//! much and for code a little few. Good for a limit, not for a bill.

use crate::{ChatRequest, Message};

/// Tokens of a conversation.
pub(crate) fn of_request(request: &ChatRequest) -> u64 {
    of_bytes(request.messages().iter().map(Message::text).map(str::len).fold(0, usize::saturating_add))
}

/// Tokens of this many bytes of text.
pub(crate) fn of_bytes(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}
