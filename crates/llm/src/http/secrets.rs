use std::fmt::Display;

use cogwork_text::{Mask, MultiLine, OneLine};
use secrecy::{ExposeSecret, SecretString};

/// The minimum length of a secret, in bytes. A shorter value may be a common word, and hiding it
/// would make texts unreadable.
pub(super) const SHORTEST_SECRET: usize = 8;

/// The maximum length of a response body in an error, in characters.
const BODY: usize = 500;
/// The maximum length of a server's text in an error message, in characters.
const LINE: usize = 300;
/// The number of bytes examined per character shown. A key that begins among them is found even if
/// each of its characters is escaped.
const LOOKED_AT: usize = 16;
const MASK: &str = "[redacted]";

/// Redacts secrets. Every text of a server passes through it before it is shown.
pub(crate) struct Secrets {
    /// Hides all secrets.
    words: Mask,
    /// Hides the secrets that are too long to be part of a URL by coincidence.
    settings: Mask,
}

impl Secrets {
    pub(super) fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let secrets: Vec<_> = secrets.into_iter().collect();
        let mask = |shortest| {
            let values = secrets.iter().map(ExposeSecret::expose_secret);
            let long = values.filter(|value| value.len() >= shortest);
            long.fold(Mask::new(), |mask, value| mask.with_parts_of(value, MASK))
        };

        Self {
            words: mask(0),
            settings: mask(SHORTEST_SECRET),
        }
    }

    /// Returns an excerpt of a response body with its lines, safe to print to a terminal. Of an HTML
    /// page, it says only that it is one.
    pub(super) fn body(&self, bytes: &[u8]) -> String {
        let looked_at = String::from_utf8_lossy(bytes.get(..BODY * LOOKED_AT).unwrap_or(bytes));
        if is_html(&looked_at) {
            return "an HTML page".to_owned();
        }

        let is_all = bytes.len() <= BODY * LOOKED_AT;
        let masked = self.words.hide(&looked_at);
        marked(MultiLine::new(masked).with_max_chars(BODY - 1), is_all)
    }

    /// Returns a server's text for use in one line.
    pub(crate) fn line(&self, text: &str) -> String {
        line(&self.words, text)
    }

    /// Returns a setting for use in one line. A key like `http` is kept: it is part of the URL.
    pub(super) fn setting(&self, text: &str) -> String {
        line(&self.settings, text)
    }
}

fn line(mask: &Mask, text: &str) -> String {
    let looked_at = beginning(text, LINE * LOOKED_AT);
    let is_all = looked_at.len() == text.len();

    marked(
        OneLine::new(mask.hide(looked_at)).with_max_chars(LINE - 1),
        is_all,
    )
}

/// Returns the text with a mark at its end if it is truncated.
fn marked(text: impl Display, is_all: bool) -> String {
    let mut shown = text.to_string();
    if !is_all && !shown.ends_with('…') {
        shown.push('…');
    }

    shown
}

/// Returns the beginning of a text, at most `most` bytes long.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev();
    let mut end = end.filter(|end| text.is_char_boundary(*end));

    end.next().and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Returns whether a body is an HTML page, as proxies and wrong URLs return it. XML is excluded,
/// because some gateways report failures in it.
pub(super) fn is_html(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with('<') && !text.starts_with("<?xml")
}
