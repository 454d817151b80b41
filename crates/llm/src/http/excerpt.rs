use std::fmt::Display;

use cogwork_text::{Mask, MultiLine, OneLine};
use secrecy::{ExposeSecret, SecretString};

/// A shorter value is no secret, or one that cannot be told from a common word, and hiding it
/// would riddle a text with holes. In bytes.
pub(super) const SHORTEST_SECRET: usize = 8;

/// The longest part of an answer's body that an error keeps, in characters.
const BODY: usize = 500;
/// The longest part of a server's words in an error's own line, in characters.
const LINE: usize = 300;
/// How much of a text is looked at for each character that may be shown, in bytes: a key that begins among
/// them is found though each of its characters is escaped.
const LOOKED_AT: usize = 16;
/// How far into a page its title is looked for, in bytes.
const HEAD: usize = 8 * 1024;
const MASK: &str = "[redacted]";
const CUT: char = '…';

/// What must never be shown, and so the door through which every word of a server goes.
pub(crate) struct Secrets {
    /// Hides all of them.
    words: Mask,
    /// Hides those that are too long to be a word of an address.
    settings: Mask,
}

impl Secrets {
    pub(super) fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let secrets: Vec<_> = secrets.into_iter().collect();
        let mask = |shortest| {
            let values = secrets.iter().map(ExposeSecret::expose_secret);
            let long = values.filter(|value| value.len() >= shortest);
            long.fold(Mask::new(), |mask, value| mask.with_value(value, MASK))
        };

        Self {
            words: mask(0),
            settings: mask(SHORTEST_SECRET),
        }
    }

    /// A cut of an answer's body: its lines kept, nothing in it that a terminal would obey. Of an
    /// HTML page only the title: the rest is markup, and says no more.
    pub(super) fn body(&self, bytes: &[u8]) -> String {
        let beginning = String::from_utf8_lossy(first(bytes, HEAD));
        if is_html(&beginning) {
            return match title(&beginning) {
                Some(title) => format!("an HTML page titled \"{}\"", self.line(title)),
                None => "an HTML page without a title".to_owned(),
            };
        }

        let looked_at = first(bytes, BODY * LOOKED_AT);
        let is_all = looked_at.len() == bytes.len();
        let masked = self.words.hide(&String::from_utf8_lossy(looked_at));

        marked(MultiLine::new(masked).with_max_chars(BODY - 1), is_all)
    }

    /// A server's words as a part of one line.
    pub(crate) fn line(&self, text: &str) -> String {
        line(&self.words, text)
    }

    /// A setting as a part of one line. A key like `http` is left in it: there it is a word of
    /// the address.
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

/// The text, with a mark where there is more of it.
fn marked(text: impl Display, is_all: bool) -> String {
    let mut shown = text.to_string();

    if !is_all && !shown.ends_with(CUT) {
        shown.push(CUT);
    }

    shown
}

/// The beginning of a text, of at most so many bytes.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    text.get(..first(text.as_bytes(), most).len())
        .unwrap_or(text)
}

/// The first bytes of a text, at most so many, without a part of a character at their end.
fn first(bytes: &[u8], most: usize) -> &[u8] {
    let is_within_character = |end: &usize| bytes.get(*end).is_some_and(|next| next & 0xc0 == 0x80);
    let end = (most.saturating_sub(3)..=most)
        .rev()
        .find(|end| !is_within_character(end));

    bytes.get(..end.unwrap_or(most)).unwrap_or(bytes)
}

/// Whether a body is a page for people, as proxies and wrong addresses answer. XML is not: some
/// gateways report their failures in it.
pub(super) fn is_html(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with('<') && !text.starts_with("<?xml")
}

/// What is between `<title>` and `</title>`, if anything.
fn title(page: &str) -> Option<&str> {
    // Keeps every byte in its place, so that places found here hold in the page.
    let lower = page.to_ascii_lowercase();
    let tag = lower.find("<title")?;
    let start = tag + lower.get(tag..)?.find('>')? + 1;
    let end = start + lower.get(start..)?.find("</title")?;

    page.get(start..end)
        .filter(|title| !title.trim().is_empty())
}
