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

/// Hides values, such as API keys, in untrusted texts.
///
/// A value is found in these forms, each of them regardless of the case of ASCII letters: as it is,
/// with the escapes of JSON, percent-encoded as in URLs, and in Base64 at any place of the encoded
/// bytes. Other encodings, and forms inside of other forms, are not found.
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
    /// What is searched for, in lower case: the whole value in each form, or its parts.
    needles: BTreeSet<Vec<u8>>,
}

/// A place in a text where a value is hidden.
struct Place<'a> {
    bytes: Range<usize>,
    value: &'a Value,
}

impl Mask {
    /// The minimum length of a part that [`with_parts_of`](Self::with_parts_of) hides, in bytes.
    pub const PART: usize = 8;

    /// Creates a mask without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value to hide. Each complete occurrence of `value` is replaced with `label`. An empty
    /// value hides nothing.
    #[must_use]
    pub fn with_value(self, value: &str, label: impl Into<Arc<str>>) -> Self {
        let needles = forms(value);

        self.with_needles(value, label.into(), needles)
    }

    /// Adds a value to hide, including its parts. `value` and every part of it with at least
    /// [`PART`](Self::PART) bytes are replaced with `label`.
    #[must_use]
    pub fn with_parts_of(self, value: &str, label: impl Into<Arc<str>>) -> Self {
        if value.len() < Self::PART {
            return self.with_value(value, label);
        }

        let parts = forms(value)
            .iter()
            .flat_map(|form| form.windows(Self::PART).map(<[u8]>::to_vec))
            .collect();

        self.with_needles(value, label.into(), parts)
    }

    fn with_needles(mut self, value: &str, label: Arc<str>, needles: BTreeSet<Vec<u8>>) -> Self {
        if !value.is_empty() {
            self.values.push(Value {
                label,
                length: value.len(),
                needles,
            });
        }

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

        // A server may answer in JSON, in a URL or in plain text, so all are searched.
        let views = [
            View::of(text, |_| None),
            View::of(text, percent_encoded),
            View::of(text, json_escaped),
        ];

        let places = self.values.iter().flat_map(|value| {
            let places = views.iter().flat_map(|view| value.places_in(view));
            merged(places.collect())
        });

        merged(places.collect())
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

/// Sorts the places and merges those that overlap.
fn merged(mut places: Vec<Place<'_>>) -> Vec<Place<'_>> {
    // Of places with the same start, the longest determines the label; of those with the same
    // length, the shortest value does, because the others contain it.
    places.sort_by_key(|place| {
        (
            place.bytes.start,
            Reverse(place.bytes.end),
            place.value.length,
        )
    });

    let mut merged: Vec<Place<'_>> = Vec::new();
    for place in places {
        match merged
            .last_mut()
            .filter(|last| place.bytes.start < last.bytes.end)
        {
            Some(last) => last.bytes.end = last.bytes.end.max(place.bytes.end),
            None => merged.push(place),
        }
    }

    merged
}

/// A text as it is searched: decoded, in lower case.
struct View {
    bytes: Vec<u8>,
    /// For each byte, the place in the text of the character or escape that it is a part of.
    places: Vec<Range<usize>>,
}

/// An escape, decoded, and its length in the text.
struct Escape {
    bytes: Vec<u8>,
    length: usize,
}

impl View {
    /// Decodes each escape that `escape` finds at the beginning of a text.
    fn of(text: &str, escape: fn(&str) -> Option<Escape>) -> Self {
        let mut view = Self {
            bytes: Vec::with_capacity(text.len()),
            places: Vec::with_capacity(text.len()),
        };

        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let start = text.len() - rest.len();
            let found = escape(rest);
            let length = found
                .as_ref()
                .map_or(first.len_utf8(), |found| found.length);

            let (character, after) = rest.split_at(length);
            match found {
                Some(found) => view.push(&found.bytes, start..start + length),
                None => view.push(character.as_bytes(), start..start + length),
            }
            rest = after;
        }

        // Hosts and header names come back in lower case.
        view.bytes.make_ascii_lowercase();
        view
    }

    fn push(&mut self, bytes: &[u8], place: Range<usize>) {
        self.bytes.extend_from_slice(bytes);
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

/// Decodes `%41`.
fn percent_encoded(text: &str) -> Option<Escape> {
    let digits = text.strip_prefix('%')?.get(..2)?;
    let byte = u8::from_str_radix(digits, 16).ok()?;

    Some(Escape {
        bytes: vec![byte],
        length: 3,
    })
}

/// Decodes `\n`, `\/` or `\u0041`.
fn json_escaped(text: &str) -> Option<Escape> {
    let escape = text.strip_prefix('\\')?;

    let (character, length) = match escape.chars().next()? {
        'n' => ('\n', 2),
        'r' => ('\r', 2),
        't' => ('\t', 2),
        'u' => {
            let code = u32::from_str_radix(escape.get(1..5)?, 16).ok()?;
            (char::from_u32(code)?, 6)
        }
        // A quote, a backslash or a slash.
        quoted => (quoted, 1 + quoted.len_utf8()),
    };

    Some(Escape {
        bytes: character.to_string().into_bytes(),
        length,
    })
}

/// Returns a value as it is, and in Base64, in lower case.
fn forms(value: &str) -> BTreeSet<Vec<u8>> {
    let forms = base64_forms(value).into_iter().chain([value.to_owned()]);

    forms
        .map(|form| form.to_ascii_lowercase().into_bytes())
        .collect()
}

/// Returns the characters that encode a value in Base64, for each of the three places where it may begin within a
/// group of three bytes. A first or last character in which another byte takes part is left out.
fn base64_forms(value: &str) -> Vec<String> {
    if value.len() < SHORTEST_IN_BASE64 {
        return Vec::new();
    }

    let encoded = |before: usize| {
        // In Base64, a text has three forms, which depend on how many bytes precede it.
        let bytes = [vec![0; before].as_slice(), value.as_bytes()].concat();
        let start = (before * 8).div_ceil(6);
        let in_the_middle = start..bytes.len() * 8 / 6;
        // At the end, the last character has only bits of the value.
        let at_the_end = start..(bytes.len() * 8).div_ceil(6);

        [STANDARD_NO_PAD, URL_SAFE_NO_PAD].map(|engine| {
            let encoded = engine.encode(&bytes);
            [&in_the_middle, &at_the_end].map(|form| {
                let form = encoded.get(form.clone());
                form.unwrap_or_default().to_owned()
            })
        })
    };

    (0..3).flat_map(encoded).flatten().collect()
}

impl fmt::Debug for Mask {
    /// Shows only the labels.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: BTreeSet<&str> = self.values.iter().map(|value| &*value.label).collect();

        f.debug_set().entries(labels).finish()
    }
}
