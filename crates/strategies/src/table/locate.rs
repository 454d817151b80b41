//! In which line of a text something stands. Readers tell a place only with their own errors, so what
//! was read without one is looked for again: key by key, each behind the one before.

pub(super) struct Locator<'t> {
    text: &'t str,
}

impl<'t> Locator<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text }
    }

    /// The line, from 1, of the last of these keys, each looked for behind the one before; of its `nth`
    /// occurrence there, from 0. Without the last key, the line of the one before.
    pub(super) fn line(&self, keys: &[&str], nth: usize) -> Option<usize> {
        let mut at = None;
        for (index, key) in keys.iter().enumerate() {
            let from = at.map_or(0, |at: usize| at + 1);
            let nth = if index + 1 == keys.len() { nth } else { 0 };
            let found = occurrences(self.text, key, from).filter(|at| self.is_key(*at, key)).nth(nth);
            match found {
                Some(found) => at = Some(found),
                None => break,
            }
        }
        at.map(|at| self.line_at(at))
    }

    /// The line of a word behind these keys, or else of the last key.
    pub(super) fn word(&self, keys: &[&str], word: &str) -> Option<usize> {
        let key = self.line(keys, 0)?;
        let from: usize = self.text.split_inclusive('\n').take(key - 1).map(str::len).sum();
        let found = occurrences(self.text, word, from).find(|at| !self.is_key(*at, word));
        Some(found.map_or(key, |at| self.line_at(at)))
    }

    fn is_key(&self, at: usize, key: &str) -> bool {
        let behind = self.text.get(at + key.len()..).unwrap_or_default();
        let before = self.text.get(..at).unwrap_or_default();
        let opens = before.trim_end_matches([' ', '\t', '"', '\'']);
        let first = opens.is_empty() || opens.ends_with(['\n', '{', ',']);
        first && behind.trim_start_matches(['"', '\'', ' ']).starts_with(':')
    }

    fn line_at(&self, at: usize) -> usize {
        self.text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
    }
}

/// Where a name stands as a whole word.
fn occurrences<'a>(text: &'a str, name: &'a str, from: usize) -> impl Iterator<Item = usize> + 'a {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    let behind = text.get(from..).unwrap_or_default();
    let name = if name.is_empty() { "\"\"" } else { name };
    behind.match_indices(name).map(move |(at, _)| from + at).filter(move |at| {
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
