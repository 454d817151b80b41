//! Reads a reply that consists of a single JSON object, as returned by servers with a JSON mode.
//!
//! YAML can read nearly all JSON too, but not every detail: it folds line separators inside a text,
//! and doesn't support surrogate pairs. Any other text is read like all other replies.

use super::bounds::Bounds;
use super::parts::Reply;

/// Reads a text that consists only of a reply in JSON; returns `None` for any other text.
pub(super) fn read(text: &str, bounds: Bounds) -> Option<Reply> {
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
    if !text.starts_with('{') || !text.ends_with('}') || !is_plain(text, bounds) {
        return None;
    }

    let reply: Reply = serde_json::from_str(text).ok()?;
    (!reply.current_thinking.trim().is_empty() && !reply.planning.is_empty()).then_some(reply)
}

/// Returns whether a text is within the bounds and has no numbers outside of strings. The JSON
/// parser would turn 65.50 into 65.5.
fn is_plain(text: &str, bounds: Bounds) -> bool {
    let mut depth = 0_usize;
    let mut objects = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                objects += usize::from(byte == b'{');
                if depth > bounds.nesting || objects > bounds.steps {
                    return false;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'0'..=b'9' => return false,
            _ => {}
        }
    }

    true
}
