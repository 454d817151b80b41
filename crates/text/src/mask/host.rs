//! Names of hosts that are not ASCII, as they go over the wire and come back in errors: `xn--scret-bsa`.

use super::escapes::{Unit, What, units};

/// What an encoded label begins with.
const PREFIX: &str = "xn--";

/// The longest label that a name may have, in bytes.
const LONGEST_LABEL: usize = 63;

/// The characters of a text with the encoded labels in it as people write them; nothing if there are none.
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

/// The value as the name of a host would have it, if that is another text.
pub(super) fn as_host_name(value: &str) -> Option<String> {
    if value.is_ascii() {
        return None;
    }

    let (name, _) = idna::domain_to_unicode(value);
    (name != value).then_some(name)
}

/// The label with which a text begins.
fn label(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .unwrap_or(text.len());
    text.get(..end.min(LONGEST_LABEL)).unwrap_or(text)
}

/// The characters of a part of a text, with their places in the whole.
fn units_of(text: &str, start: usize, end: usize) -> impl Iterator<Item = Unit> {
    let part = text.get(start..end).unwrap_or_default();
    units(part).map(move |Unit { what, bytes }| Unit {
        what,
        bytes: bytes.start + start..bytes.end + start,
    })
}
