use std::borrow::Cow;

use cogwork_text::{Mask, MultiLine, OneLine};
use secrecy::{ExposeSecret, SecretString};

/// The minimum length of a secret, in bytes. A shorter value may be a common word, and hiding it
/// would make texts unreadable.
const SHORTEST_SECRET: usize = 8;

/// The maximum length of a server's text in an error, in characters.
const SHOWN: usize = 500;
/// The number of bytes examined per character shown. A key that begins among them is found even if
/// each of its characters is escaped.
const LOOKED_AT: usize = 16;
const MASK: &str = "[redacted]";

/// Redacts secrets. Every text of a server passes through it before it is shown.
pub(crate) struct Secrets(Mask);

impl Secrets {
    pub(super) fn new<'s>(secrets: impl IntoIterator<Item = &'s SecretString>) -> Self {
        let values = secrets.into_iter().map(ExposeSecret::expose_secret);
        let long = values.filter(|value| value.len() >= SHORTEST_SECRET);
        Self(long.fold(Mask::new(), |mask, value| mask.with_value(value, MASK)))
    }

    /// Returns an excerpt of a response body with its lines, safe to print to a terminal. Of an HTML
    /// page, it says only that it is one.
    pub(super) fn body(&self, bytes: &[u8]) -> String {
        let looked_at = beginning(bytes, SHOWN * LOOKED_AT);
        if is_html(&looked_at) {
            return "an HTML page".to_owned();
        }

        // Before the text is cut, because half a key at its end would not be found.
        let masked = self.0.hide(&looked_at);
        MultiLine::new(masked).with_max_chars(SHOWN - 1).to_string()
    }

    /// Returns a text for use in one line.
    pub(crate) fn line(&self, text: &str) -> String {
        let masked = self.0.hide(&beginning(text.as_bytes(), SHOWN * LOOKED_AT));
        OneLine::new(masked).with_max_chars(SHOWN - 1).to_string()
    }
}

fn beginning(bytes: &[u8], most: usize) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.get(..most).unwrap_or(bytes))
}

/// Returns whether a body is an HTML page, as proxies and wrong URLs return it. XML is excluded,
/// because some gateways report failures in it.
pub(super) fn is_html(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with('<') && !text.starts_with("<?xml")
}
