//! Finds secret values in texts, however they are encoded.

mod escapes;
mod fold;
mod forms;
#[cfg(feature = "host-names")]
mod host;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use fold::{Folded, Sign};
use forms::{BEGINNING, Form};

/// Hides values, such as API keys, in untrusted texts.
///
/// A value is found regardless of case, and also when it is written with the escapes of JSON, YAML,
/// URLs or HTML, including nested ones. It is therefore also hidden in messages of servers and
/// libraries. At the end of a text and before each `…`, where the text may have been truncated, the
/// first four characters of a value are enough to be hidden.
///
/// White space between the characters of a value is ignored, also if it is escaped as in JSON
/// (`\n`). Other encodings, such as Base64 and hexadecimal digits, are not decoded, so a value that
/// is encoded in them isn't found.
///
/// ```
/// use cogwork_text::Mask;
///
/// let mask = Mask::new().with_value("sk-12/34\"56", "[the key]");
/// assert_eq!(mask.hide("no such key: sk-12/34\"56!"), "no such key: [the key]!");
/// assert_eq!(mask.hide(r#"{"key": "SK-12\/34\"56"}"#), r#"{"key": "[the key]"}"#);
/// assert_eq!(mask.hide("GET /?key=sk-12%2F34%2256&n=1"), "GET /?key=[the key]&n=1");
/// assert_eq!(mask.hide("no such key: sk-12…"), "no such key: [the key]…");
/// assert_eq!(mask.hide(r#"{"key": "sk-12\n/34\n56"}"#), r#"{"key": "[the key]"}"#);
/// ```
#[derive(Clone, Default)]
pub struct Mask {
    values: Vec<Value>,
    /// The indexes of the values that have a part, by the hash of the part, so that a text is
    /// searched once for all values.
    parts: HashMap<u64, Vec<usize>>,
    /// The lengths of the parts without ignored characters.
    part_lengths: BTreeSet<usize>,
}

/// A value to hide.
#[derive(Clone)]
struct Value {
    label: Arc<str>,
    /// In characters.
    length: usize,
    forms: Vec<Form>,
    has_parts: bool,
}

/// A place in a text where a value is hidden.
struct Place<'a> {
    bytes: Range<usize>,
    value: &'a Value,
}

impl Mask {
    /// The minimum length of a part that [`with_parts_of`](Self::with_parts_of) hides, in
    /// characters.
    pub const PART: usize = forms::PART;

    /// Creates a mask without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value to hide. Each complete occurrence of `value` is replaced with `label`. An empty
    /// value hides nothing.
    #[must_use]
    pub fn with_value(mut self, value: &str, label: impl Into<Arc<str>>) -> Self {
        self.add(value, label.into(), false);
        self
    }

    /// Adds a value to hide, including its parts. `value` and every part of it with at least
    /// [`PART`](Self::PART) characters are replaced with `label`. White space, quotes and slashes
    /// are ignored; a part must have at least four other characters.
    #[must_use]
    pub fn with_parts_of(mut self, value: &str, label: impl Into<Arc<str>>) -> Self {
        let place = self.values.len();
        let mut has_parts = false;
        for part in forms::parts(value) {
            has_parts = true;
            self.part_lengths.insert(part.len());
            let values = self.parts.entry(hash(part)).or_default();

            if values.last() != Some(&place) {
                values.push(place);
            }
        }

        self.add(value, label.into(), has_parts);
        self
    }

    fn add(&mut self, value: &str, label: Arc<str>, has_parts: bool) {
        let length = value.chars().count();
        self.values.push(Value {
            label,
            length,
            forms: forms::wholes(value),
            has_parts,
        });
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
        if self.values.is_empty() {
            return Vec::new();
        }

        let mut places = Vec::new();
        for folded in Folded::all_of(text) {
            places.extend(
                self.values
                    .iter()
                    .flat_map(|value| value.places_in(&folded)),
            );
            places.extend(self.parts_in(&folded.signs));
        }

        merged(places)
    }

    /// Returns the places of parts of values. Overlapping parts of one value are merged.
    fn parts_in(&self, signs: &[Sign]) -> Vec<Place<'_>> {
        let mut found: BTreeMap<usize, Vec<Place<'_>>> = BTreeMap::new();
        for length in self.part_lengths.iter().copied() {
            for part in signs.windows(length) {
                let values = self
                    .parts
                    .get(&hash(part.iter().map(|sign| sign.character)));
                for place in values.into_iter().flatten() {
                    let of_value = self
                        .values
                        .get(*place)
                        .and_then(|value| Place::of(part, value));
                    found.entry(*place).or_default().extend(of_value);
                }
            }
        }

        found.into_values().flat_map(merged).collect()
    }
}

impl Value {
    /// Returns the places of the whole value, and of its beginning before a cut.
    fn places_in(&self, folded: &Folded) -> Vec<Place<'_>> {
        let mut places = Vec::new();
        for form in &self.forms {
            places.extend(self.whole(form, &folded.signs));
            places.extend(self.cut_off(form, folded));
        }

        places
    }

    fn whole<'a>(&'a self, form: &Form, signs: &[Sign]) -> Vec<Place<'a>> {
        let is_form = |window: &&[Sign]| window.iter().map(|sign| &sign.character).eq(form);

        signs
            .windows(form.len())
            .filter(is_form)
            .filter_map(|window| Place::of(window, self))
            .collect()
    }

    fn cut_off<'a>(&'a self, form: &Form, folded: &Folded) -> Vec<Place<'a>> {
        let end = folded.cuts.last().map(|cut| cut.byte);
        let places = folded.cuts.iter().filter_map(|cut| {
            // Longer beginnings are found as parts, except for an escape that is truncated after
            // them. A text can have many cuts, but only one end.
            let longest = if self.has_parts && Some(cut.byte) != end {
                form.len().min(Mask::PART)
            } else {
                form.len()
            };

            let before = folded.signs.get(..cut.signs)?;
            let beginning = (BEGINNING..=longest).rev().find_map(|length| {
                let last = before.get(before.len().checked_sub(length)?..)?;
                last.iter()
                    .map(|sign| &sign.character)
                    .eq(form.get(..length)?)
                    .then_some(last)
            })?;

            let place = Place::of(beginning, self)?;
            let is_whole = beginning.len() == form.len();

            // Ignored characters between a beginning and the cut may be part of the value.
            let end = if is_whole { place.bytes.end } else { cut.byte };
            Some(Place {
                bytes: place.bytes.start..end,
                ..place
            })
        });

        places.collect()
    }
}

impl<'a> Place<'a> {
    /// Returns the place of these signs.
    fn of(signs: &[Sign], value: &'a Value) -> Option<Self> {
        Some(Self {
            bytes: signs.first()?.bytes.start..signs.last()?.bytes.end,
            value,
        })
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

/// Hashes the same in every process and for every mask, so that masks can be cloned.
fn hash(characters: impl IntoIterator<Item = char>) -> u64 {
    let mut hasher = DefaultHasher::new();
    characters
        .into_iter()
        .for_each(|character| character.hash(&mut hasher));
    hasher.finish()
}

impl fmt::Debug for Mask {
    /// Shows only the labels.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.values.iter().map(|value| &value.label))
            .finish()
    }
}
