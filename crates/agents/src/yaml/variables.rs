//! `${NAME}` in texts: taken from the environment, and kept out of everything that is shown.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::quote::Name;

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

    /// The text with the names of the variables in place of their values.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut values: Vec<_> = self.0.iter().filter(|(_, value)| value.len() >= Self::SHORTEST).collect();
        // A value that holds another goes first, or its rest would stay.
        values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        let mut text = text.to_owned();
        for (name, value) in values {
            // As it is, and as JSON and `{:?}` would write it.
            let quoted = value.escape_debug().to_string();
            for value in [value.as_str(), quoted.as_str()] {
                if text.contains(value) {
                    text = text.replace(value, &format!("${{{name}}}"));
                }
            }
        }
        text
    }
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
    while let Some((before, after)) = rest.split_once('$') {
        filled.text.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            filled.text.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix('{') {
            let Some((name, behind)) = after.split_once('}').filter(|(name, _)| is_name(name)) else {
                filled.problems.push(
                    "`${` begins no variable; expected `${NAME}` with a name of letters, digits and `_`, or `$$` for a dollar"
                        .to_owned(),
                );
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
    filled
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
