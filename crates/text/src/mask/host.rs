//! Non-ASCII host names as they are sent over the network and occur in errors: `xn--scret-bsa`.

use super::escapes::{Unit, What, units};

/// The prefix of an encoded label.
const PREFIX: &str = "xn--";

/// The maximum length of a label, in bytes.
const LONGEST_LABEL: usize = 63;

/// Returns the characters of a text with its encoded labels decoded, or `None` if there are no
/// encoded labels.
pub(super) fn decoded(text: &str) -> Option<Vec<Unit>> {
    let lower = text.to_ascii_lowercase();
    let mut decoded = Vec::new();
    let mut done = 0;

    for (start, _) in lower.match_indices(PREFIX) {
        let Some(label) = lower.get(start..).map(label).filter(|_| start >= done) else {
            continue;
        };

        let Some(name) = label
            .strip_prefix(PREFIX)
            .and_then(idna::punycode::decode_to_string)
        else {
            continue;
        };

        decoded.extend(units_of(text, done, start));
        done = start + label.len();
        decoded.extend(name.chars().map(|character| Unit {
            what: What::Character(character),
            bytes: start..done,
        }));
    }

    if done == 0 {
        return None;
    }

    decoded.extend(units_of(text, done, text.len()));
    Some(decoded)
}

/// Returns the value as encoded in a host name, if that differs.
pub(super) fn as_host_name(value: &str) -> Option<String> {
    if value.is_ascii() {
        return None;
    }

    let (name, _) = idna::domain_to_unicode(value);
    (name != value).then_some(name)
}

/// Returns the label at the beginning of a text.
fn label(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .unwrap_or(text.len());
    text.get(..end.min(LONGEST_LABEL)).unwrap_or(text)
}

/// Returns the characters of a part of a text, with their positions in the whole.
fn units_of(text: &str, start: usize, end: usize) -> impl Iterator<Item = Unit> {
    let part = text.get(start..end).unwrap_or_default();
    units(part).map(move |Unit { what, bytes }| Unit {
        what,
        bytes: bytes.start + start..bytes.end + start,
    })
}
