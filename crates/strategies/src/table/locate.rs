//! Finds the lines of problems in a text.
//!
//! Parsers only give positions in their own errors, so the position of anything else is searched
//! for, one key after another.

use std::cell::OnceCell;
use std::collections::HashMap;

use cogwork_read::charge;

pub(super) struct Locator<'t> {
    text: &'t str,
    /// Created for the first problem, since most tables have none.
    index: OnceCell<Index<'t>>,
}

impl<'t> Locator<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            index: OnceCell::new(),
        }
    }

    /// Returns the line, counted from 1, of the last of `keys`, each of which is searched for after
    /// the previous one. `nth` selects one of several occurrences, counted from 0. If the last key
    /// isn't found, the line of the previous one is returned.
    pub(super) fn line(&self, keys: &[&str], nth: usize) -> Option<usize> {
        let at = self.offset(keys, nth)?;
        Some(self.index().line_at(at))
    }

    /// Returns the line of a word after `keys`, or the line of the last key if the word isn't
    /// found.
    pub(super) fn word(&self, keys: &[&str], word: &str) -> Option<usize> {
        let key = self.offset(keys, 0)?;
        let index = self.index();
        let line = index.line_at(key);

        let from = index.start_of(line);
        let found = occurrences(self.text, word, from).find(|at| !is_key(self.text, *at, word));
        Some(found.map_or(line, |at| index.line_at(at)))
    }

    fn offset(&self, keys: &[&str], nth: usize) -> Option<usize> {
        let mut at = None;

        for (position, key) in keys.iter().enumerate() {
            let is_last = position + 1 == keys.len();
            let from = at.map_or(0, |at: usize| at + 1);
            let nth = if is_last { nth } else { 0 };
            let found = self.index().key(key, from, nth);

            // A name with special characters isn't in the index, but can be searched for.
            match found.or_else(|| self.odd_key(key, from, nth)) {
                Some(found) => at = Some(found),
                None => break,
            }
        }

        at
    }

    fn odd_key(&self, key: &str, from: usize, nth: usize) -> Option<usize> {
        let is_odd = key.is_empty()
            || key.contains(|c: char| ENDS_A_NAME.contains(&c) || AROUND_A_KEY.contains(&c));
        if !is_odd {
            return None;
        }

        occurrences(self.text, key, from)
            .filter(|at| is_key(self.text, *at, key))
            .nth(nth)
    }

    fn index(&self) -> &Index<'t> {
        self.index.get_or_init(|| Index::of(self.text))
    }
}

/// The keys of a text by name, and its lines.
struct Index<'t> {
    /// The offsets of each key, in order.
    keys: HashMap<&'t str, Vec<usize>>,
    /// The offset of each line but the first.
    lines: Vec<usize>,
}

/// The characters that end the name of a key in the index.
const ENDS_A_NAME: [char; 5] = [':', ',', '{', '}', '\n'];
/// The characters that may surround a key.
const AROUND_A_KEY: [char; 4] = [' ', '\t', '"', '\''];

impl<'t> Index<'t> {
    fn of(text: &'t str) -> Self {
        charge(text.len());
        let mut index = Self {
            keys: HashMap::new(),
            lines: Vec::new(),
        };
        let mut begins = 0;

        for (at, sign) in text.char_indices().filter(|(_, c)| ENDS_A_NAME.contains(c)) {
            if sign == ':' {
                index.add_key(text, begins, at);
            }

            begins = at + 1;
            if sign == '\n' {
                index.lines.push(begins);
            }
        }

        index
    }

    /// Adds the key before a colon, if there is one between `begins` and the colon.
    fn add_key(&mut self, text: &'t str, begins: usize, colon: usize) {
        let before = begins.checked_sub(1).and_then(|at| text.get(at..begins));
        if !matches!(before, None | Some("\n" | "{" | ",")) {
            return;
        }

        let written = text.get(begins..colon).unwrap_or_default();
        let name = written.trim_start_matches(AROUND_A_KEY);
        let at = colon - name.len();

        self.keys
            .entry(name.trim_end_matches(AROUND_A_KEY))
            .or_default()
            .push(at);
    }

    /// Returns the offset of the `nth` occurrence of a key at or after `from`.
    fn key(&self, name: &str, from: usize, nth: usize) -> Option<usize> {
        let places = self.keys.get(name)?;
        let first = places.partition_point(|at| *at < from);
        places.get(first + nth).copied()
    }

    /// Returns the line of an offset, counted from 1.
    fn line_at(&self, at: usize) -> usize {
        self.lines.partition_point(|begins| *begins <= at) + 1
    }

    /// Returns the offset of a line.
    fn start_of(&self, line: usize) -> usize {
        line.checked_sub(2)
            .and_then(|before| self.lines.get(before))
            .copied()
            .unwrap_or(0)
    }
}

/// Returns whether the name at an offset is a key.
fn is_key(text: &str, at: usize, name: &str) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let opens = before.trim_end_matches(AROUND_A_KEY);
    let is_first = opens.is_empty() || opens.ends_with(['\n', '{', ',']);

    let behind = text.get(at + name.len()..).unwrap_or_default();
    let rest = behind.trim_start_matches(['"', '\'', ' ']);
    charge(before.len() - opens.len() + behind.len() - rest.len());

    is_first && rest.starts_with(':')
}

/// Returns the offsets of a name as a whole word.
fn occurrences<'a>(text: &'a str, name: &'a str, from: usize) -> impl Iterator<Item = usize> + 'a {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    let behind = text.get(from..).unwrap_or_default();
    let name = if name.is_empty() { "\"\"" } else { name };
    charge(behind.len());

    behind
        .match_indices(name)
        .map(move |(at, _)| from + at)
        .filter(move |at| {
            let before = text.get(..*at).and_then(|text| text.chars().next_back());
            let after = text
                .get(at + name.len()..)
                .and_then(|text| text.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}
