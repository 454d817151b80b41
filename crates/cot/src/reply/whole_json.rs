//! The way in which a reply is read that is a JSON object from its first to its last character, as
//! servers that are asked for JSON give it.
//!
//! YAML reads nearly all JSON too, but not to the last character: it folds line separators in a
//! text, and knows no escapes in pairs. What is not whole JSON goes the way of all other replies.

use cogwork_read::charge;

use super::bounds::Bounds;
use super::parts::Reply;

/// Reads a text that is a reply in JSON and nothing else; none if it is not.
pub(super) fn read(text: &str, bounds: Bounds) -> Option<Reply> {
    charge(text.len());
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
    if !text.starts_with('{') || !text.ends_with('}') || !is_plain(text, bounds) {
        return None;
    }

    charge(text.len());
    let reply: Reply = serde_json::from_str(text).ok()?;
    (!reply.current_thinking.trim().is_empty() && !reply.planning.is_empty()).then_some(reply)
}

/// Whether a text keeps to the bounds, and has no number outside of strings: JSON's reader would
/// hand over 65.50 as 65.5.
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
