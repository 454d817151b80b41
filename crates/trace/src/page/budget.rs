//! The events of a record, within a number of bytes.

use std::collections::VecDeque;
use std::mem;

use serde_json::{Map, Value, json};

/// The lengths to which texts are shortened, in bytes, one after the other.
const LENGTHS: [usize; 4] = [16 * 1024, 4 * 1024, 1024, 256];

/// Keeps the lines of a record. If they are too large, long texts are shortened; if they still are,
/// only the first and the last lines are kept.
#[derive(Debug)]
pub(super) struct Budget {
    max_bytes: usize,
    first: Vec<String>,
    /// Lines after the ones that were left out; only used once there are any.
    last: VecDeque<String>,
    bytes: usize,
    bytes_of_last: usize,
    /// How many of [`LENGTHS`] were used.
    cuts: usize,
    is_split: bool,
    left_out: u64,
    shortened: u64,
}

impl Budget {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            first: Vec::new(),
            last: VecDeque::new(),
            bytes: 0,
            bytes_of_last: 0,
            cuts: 0,
            is_split: false,
            left_out: 0,
            shortened: 0,
        }
    }

    /// Adds a line, which is the JSON of an event.
    pub(super) fn add(&mut self, line: String) {
        let line = match self.length() {
            Some(length) => self.shorten(line, length),
            None => line,
        };

        if self.is_split {
            self.add_last(line);
            return;
        }

        self.bytes += line.len();
        self.first.push(line);
        while self.bytes > self.max_bytes && !self.is_split {
            self.shrink();
        }
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        let mut lines = self.first;
        if self.left_out > 0 {
            let gap = json!({"type": "left_out", "events": self.left_out});
            lines.push(gap.to_string());
        }

        lines.extend(self.last);
        lines
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(length) = self.length() {
            let count = self.shortened;
            notes.push(format!(
                "The record is too large for a page: texts of {count} events are shortened to {length} bytes."
            ));
        }
        if self.left_out > 0 {
            let count = self.left_out;
            notes.push(format!(
                "The record is too large for a page: {count} events in the middle are left out."
            ));
        }

        notes
    }

    /// Returns the length to which texts are shortened.
    fn length(&self) -> Option<usize> {
        let last = self.cuts.checked_sub(1)?;
        LENGTHS.get(last).copied()
    }

    /// Shortens all texts further or, if they are as short as possible, keeps only the first half of
    /// the lines from now on.
    fn shrink(&mut self) {
        if self.cuts == LENGTHS.len() {
            self.split();
            return;
        }

        self.cuts += 1;
        self.shortened = 0;
        let Some(length) = self.length() else {
            return;
        };

        let lines = mem::take(&mut self.first);
        let lines = lines.into_iter().map(|line| self.shorten(line, length));
        self.first = lines.collect();
        self.bytes = self.first.iter().map(String::len).sum();
    }

    fn split(&mut self) {
        let half = self.max_bytes / 2;
        let mut bytes = 0;
        let kept = self.first.iter().take_while(|line| {
            bytes += line.len();
            bytes <= half
        });

        let kept = kept.count();
        self.is_split = true;
        for line in self.first.split_off(kept) {
            self.add_last(line);
        }
    }

    fn add_last(&mut self, line: String) {
        self.bytes_of_last += line.len();
        self.last.push_back(line);

        while self.bytes_of_last > self.max_bytes / 2 {
            let Some(line) = self.last.pop_front() else {
                return;
            };
            self.bytes_of_last -= line.len();
            self.left_out += 1;
        }
    }

    fn shorten(&mut self, line: String, length: usize) -> String {
        if line.len() <= length {
            return line;
        }
        let Ok(mut event) = serde_json::from_str::<Map<String, Value>>(&line) else {
            return line;
        };

        let is_shortened = shorten_texts(&mut event, length);
        if !is_shortened {
            return line;
        }

        self.shortened += 1;
        Value::Object(event).to_string()
    }
}

/// Shortens a text to at most this number of bytes and an ellipsis.
fn shorten_text(text: &mut String, length: usize) {
    let mut ends = (0..=length).rev();
    let end = ends.find(|end| text.is_char_boundary(*end));

    text.truncate(end.unwrap_or(0));
    text.push('…');
}

/// The fields that name steps and nodes, which stay whole.
const NAMES: [&str; 3] = ["step", "to", "waits_at"];

/// Shortens all texts in an event, and returns whether there were any.
fn shorten_texts(event: &mut Map<String, Value>, length: usize) -> bool {
    let values = event.iter_mut();
    let values = values.filter(|(name, _)| !NAMES.contains(&name.as_str()));
    let mut open: Vec<&mut Value> = values.map(|(_, value)| value).collect();
    let mut is_shortened = false;

    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if text.len() > length => {
                shorten_text(text, length);
                is_shortened = true;
            }
            Value::Array(values) => open.extend(values),
            Value::Object(values) => open.extend(values.values_mut()),
            _ => {}
        }
    }

    is_shortened
}
