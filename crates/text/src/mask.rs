use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// The length of the shortest value, in bytes, that is also searched for in Base64. Shorter ones would be found by
/// chance.
const SHORTEST_IN_BASE64: usize = 6;

/// The minimum length of a part that is hidden, in bytes.
const PART: usize = 8;

/// Hides values, such as API keys, in untrusted texts.
///
/// A value is hidden whole, and so is every part of it with at least 8 bytes. It is found in these
/// forms, each of them regardless of the case of ASCII letters: as it is, with the escapes of JSON
/// or Markdown, percent-encoded as in URLs, all of them any number of times, and in Base64 at any place of the
/// encoded bytes. Other encodings are not found.
///
/// ```
/// use cogwork_text::Mask;
///
/// let mask = Mask::new().with_value("sk-12/34\"56", "[the key]");
/// assert_eq!(mask.hide("no such key: SK-12/34\"56!"), "no such key: [the key]!");
/// assert_eq!(mask.hide(r#"{"key": "sk-12\/34\"56"}"#), r#"{"key": "[the key]"}"#);
/// assert_eq!(mask.hide("GET /?key=sk-12%2F34%2256&n=1"), "GET /?key=[the key]&n=1");
/// assert_eq!(mask.hide("Basic c2stMTIvMzQiNTY="), "Basic [the key]=");
/// ```
#[derive(Clone, Default)]
pub struct Mask {
    values: Vec<Value>,
}

/// A value to hide.
#[derive(Clone)]
struct Value {
    label: Arc<str>,
    /// In bytes.
    length: usize,
    /// What is searched for: the value in each form, or its parts.
    needles: BTreeSet<Vec<u8>>,
}

/// A place in a text where a value is hidden.
struct Place<'a> {
    bytes: Range<usize>,
    value: &'a Value,
}

impl Mask {
    /// Creates a mask without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value to hide, in whose place `label` is shown. An empty value hides nothing.
    #[must_use]
    pub fn with_value(mut self, value: &str, label: impl Into<Arc<str>>) -> Self {
        let forms = forms(value);
        let parts = forms.iter().flat_map(|form| {
            let length = form.len().clamp(1, PART);
            form.windows(length).map(<[u8]>::to_vec)
        });

        self.values.push(Value {
            label: label.into(),
            length: value.len(),
            needles: parts.collect(),
        });
        self
    }

    /// Returns the text with hidden values replaced by their labels.
    pub fn hide(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut done = 0;

        for Place { bytes, value } in self.places(text) {
            shown.push_str(text.get(done..bytes.start).unwrap_or_default());
            shown.push_str(&value.label);
            done = bytes.end;
        }

        shown.push_str(text.get(done..).unwrap_or_default());
        shown
    }

    /// Returns the places to hide, in order and without overlap.
    fn places(&self, text: &str) -> Vec<Place<'_>> {
        // Most texts are hidden from nothing.
        if self.values.is_empty() {
            return Vec::new();
        }

        // A server may answer in plain text, or in JSON inside of a URL.
        let views = [View::of(text, |_| None), View::of(text, escape)];
        let places = views
            .iter()
            .flat_map(|view| self.values.iter().flat_map(|value| value.places_in(view)));
        let mut places: Vec<_> = places.collect();

        // Of places with the same start, the longest determines the label; of those with the same
        // length, the shortest value does, because the others contain it.
        places
            .sort_by_key(|Place { bytes, value }| (bytes.start, Reverse(bytes.end), value.length));

        places
            .into_iter()
            .fold(Vec::new(), |mut merged: Vec<Place<'_>>, place| {
                match merged.last_mut() {
                    Some(last) if place.bytes.start < last.bytes.end => {
                        last.bytes.end = last.bytes.end.max(place.bytes.end);
                    }
                    _ => merged.push(place),
                }
                merged
            })
    }
}

impl Value {
    fn places_in(&self, view: &View) -> Vec<Place<'_>> {
        // One pass for each length, however many needles have it.
        let lengths: BTreeSet<usize> = self.needles.iter().map(Vec::len).collect();
        let places = lengths.into_iter().flat_map(|length| {
            let windows = view.bytes.windows(length).enumerate();
            windows
                .filter(|(_, window)| self.needles.contains(*window))
                .map(move |(start, _)| view.place(start..start + length))
        });

        places.map(|bytes| Place { bytes, value: self }).collect()
    }
}

/// Returns the length of the escape at the end of a text, and what it stands for.
type Escape = fn(&[u8]) -> Option<(usize, Vec<u8>)>;

/// A text as it is searched, in lower case.
#[derive(Default)]
struct View {
    bytes: Vec<u8>,
    /// For each byte, the place in the text of the character or escape that it is a part of.
    places: Vec<Range<usize>>,
}

impl View {
    /// Replaces each escape that `escape` finds at the end of a text, and those that this leaves.
    fn of(text: &str, escape: Escape) -> Self {
        let mut view = Self::default();
        for (start, character) in text.char_indices() {
            let place = start..start + character.len_utf8();
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                // Hosts and header names come back in lower case.
                view.bytes.push(byte.to_ascii_lowercase());
                view.places.push(place.clone());
                while let Some((length, decoded)) = escape(&view.bytes) {
                    view.replace_last(length, &decoded);
                }
            }
        }
        view
    }

    /// Replaces the last bytes by what they stand for.
    fn replace_last(&mut self, length: usize, decoded: &[u8]) {
        let start = self.bytes.len() - length;
        let place = self.place(start..self.bytes.len());

        self.bytes.truncate(start);
        self.bytes.extend(decoded.to_ascii_lowercase());
        self.places.truncate(start);
        self.places.resize(self.bytes.len(), place);
    }

    /// Returns the place in the text of these bytes.
    fn place(&self, bytes: Range<usize>) -> Range<usize> {
        let places = self.places.get(bytes).unwrap_or_default();
        let start = places.first().map_or(0, |first| first.start);
        let end = places.last().map_or(start, |last| last.end);

        start..end
    }
}

/// Finds `%41`, `\n`, `\/`, `\-` and `\u0041`.
fn escape(text: &[u8]) -> Option<(usize, Vec<u8>)> {
    let number = |digits: &[u8]| u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok();

    if let [.., b'%', high, low] = *text
        && let Some(byte) = number(&[high, low])
    {
        return Some((3, vec![u8::try_from(byte).ok()?]));
    }
    if let [.., b'\\', b'u', a, b, c, d] = *text
        && let Some(character) = number(&[a, b, c, d]).and_then(char::from_u32)
    {
        return Some((6, character.to_string().into_bytes()));
    }

    let [.., b'\\', character] = *text else {
        return None;
    };
    let decoded = match character {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ if character.is_ascii_alphanumeric() => return None,
        // JSON escapes a few of the rest, and Markdown any punctuation. After a backslash of the text
        // itself, it may also be what an escape stood for.
        _ => character,
    };
    Some((2, vec![decoded]))
}

/// Returns a value as it is, without escapes, and in Base64, in lower case.
fn forms(value: &str) -> BTreeSet<Vec<u8>> {
    let mut decoded = View::of(value, escape).bytes;
    // What follows in a text would be taken for an escaped character.
    while decoded.last() == Some(&b'\\') {
        decoded.pop();
    }

    let encoded = base64_forms(value)
        .into_iter()
        .map(|form| form.to_ascii_lowercase().into_bytes());
    encoded
        .chain([View::of(value, |_| None).bytes, decoded])
        .collect()
}

/// Returns the characters that encode a value in Base64, for each of the three places where it may
/// begin within a group of three bytes.
fn base64_forms(value: &str) -> Vec<String> {
    if value.len() < SHORTEST_IN_BASE64 {
        return Vec::new();
    }

    let forms = (0..3).flat_map(|before| {
        let bytes = [vec![0; before].as_slice(), value.as_bytes()].concat();
        // Other bytes may take part in the first character, and in the last unless it is at the end.
        let start = (before * 8).div_ceil(6);
        let ends = [bytes.len() * 8 / 6, (bytes.len() * 8).div_ceil(6)];

        [STANDARD_NO_PAD, URL_SAFE_NO_PAD].map(|engine| {
            let encoded = engine.encode(&bytes);
            ends.map(|end| encoded.get(start..end).unwrap_or_default().to_owned())
        })
    });
    forms.flatten().collect()
}

impl fmt::Debug for Mask {
    /// Shows only the labels.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: BTreeSet<&str> = self.values.iter().map(|value| &*value.label).collect();

        f.debug_set().entries(labels).finish()
    }
}
