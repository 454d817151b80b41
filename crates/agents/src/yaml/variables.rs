//! `${NAME}` in texts: taken from the environment, and kept out of everything that is shown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::read::MAX_TEXT;
use crate::quote::{Name, steers};

/// How variables are looked up. A function and not the process's own environment, so that tests, and
/// programs with a vault of their own, need none.
pub(crate) type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The values that came from the environment, by the names of their variables.
#[derive(Clone, Default)]
pub(crate) struct Secrets(BTreeMap<String, String>);

impl Secrets {
    /// A shorter value is no secret, or one that cannot be told from a common word, and hiding it
    /// would riddle a text with holes. In bytes.
    const SHORTEST: usize = 4;

    pub(crate) fn keep(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// Whether one of them has one of these in it.
    pub(crate) fn hold(&self, characters: [char; 2]) -> bool {
        self.0.values().any(|value| value.contains(characters))
    }

    /// The text with the names of the variables in place of their values.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut values: Vec<_> = self.0.iter().filter(|(_, value)| value.len() >= Self::SHORTEST).collect();
        // A value that holds another goes first, or its rest would stay.
        values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        let mut text = text.to_owned();
        for (name, value) in values {
            let shown = format!("${{{name}}}");
            for form in forms(value) {
                if text.contains(&form) {
                    text = text.replace(&form, &shown);
                }
                if text.contains(CUT) {
                    text = without_starts(&text, &form, &shown);
                }
            }
        }
        text
    }
}

/// What stands where a message has cut a long text.
const CUT: char = '…';

/// A value as it is, and as `{:?}`, JSON, JSON in JSON, and the messages of this workspace write it.
fn forms(value: &str) -> BTreeSet<String> {
    let json = |text: &str| serde_json::Value::from(text).to_string();
    let inside = |quoted: String| quoted.get(1..quoted.len().saturating_sub(1)).map(str::to_owned);
    let debug = inside(format!("{value:?}"));
    let once = inside(json(value));
    let twice = once.as_deref().and_then(|once| inside(json(once)));
    let escaped = |escape: fn(char) -> String| -> String {
        value.chars().map(|c| if steers(c) { escape(c) } else { c.into() }).collect()
    };
    let written = [
        value.to_owned(),
        value.escape_debug().to_string(),
        escaped(|c| c.escape_unicode().to_string()),
        escaped(|c| c.escape_default().to_string()),
        value.chars().map(|c| if c.is_whitespace() || steers(c) { ' ' } else { c }).collect(),
    ];
    written.into_iter().chain([debug, once, twice].into_iter().flatten()).collect()
}

/// The text without the starts of a value that stand before a cut.
fn without_starts(text: &str, value: &str, shown: &str) -> String {
    let mut parts = text.split(CUT).peekable();
    let mut hidden = String::with_capacity(text.len());
    while let Some(part) = parts.next() {
        let is_cut = parts.peek().is_some();
        match before_start(part, value).filter(|_| is_cut) {
            Some(before) => hidden.extend([before, shown]),
            None => hidden.push_str(part),
        }
        hidden.extend(is_cut.then_some(CUT));
    }
    hidden
}

/// What stands before the longest start of a value with which a text ends.
fn before_start<'t>(text: &'t str, value: &str) -> Option<&'t str> {
    let lengths = Secrets::SHORTEST..=value.len().min(text.len());
    let mut starts = lengths.rev().filter_map(|length| value.get(..length));
    starts.find_map(|start| text.strip_suffix(start))
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A text with its variables put in, their names, and what is wrong.
#[derive(Default)]
pub(super) struct Filled {
    pub(super) text: String,
    pub(super) variables: Vec<String>,
    pub(super) problems: Vec<String>,
}

pub(super) fn fill(raw: &str, environment: &Environment, secrets: &mut Secrets) -> Filled {
    let mut filled = Filled::default();
    let mut rest = raw;
    let mut begins_none = false;
    // What is longer than this is refused, so the rest of it need not be filled in.
    while let Some((before, after)) = rest.split_once('$').filter(|_| filled.text.len() <= MAX_TEXT) {
        filled.text.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            filled.text.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix('{') {
            let Some((name, behind)) = name(after) else {
                begins_none = true;
                filled.text.push('$');
                continue;
            };
            rest = behind;
            match environment(name) {
                Some(value) => {
                    secrets.keep(name, &value);
                    filled.text.push_str(&value);
                }
                None => filled
                    .problems
                    .push(format!("the environment variable `{}` is not set; expected a value", Name(name))),
            }
            filled.variables.push(name.to_owned());
        } else {
            filled.text.push('$');
        }
    }
    filled.text.push_str(rest);
    if begins_none {
        filled.problems.push(
            "`${` begins no variable; expected `${NAME}` with a name of letters, digits and `_`, or `$$` for a dollar"
                .to_owned(),
        );
    }
    filled
}

/// The name of a variable and what stands behind its brace.
fn name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let (name, behind) = text.split_at_checked(end)?;
    let behind = behind.strip_prefix('}')?;
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some((name, behind))
}
