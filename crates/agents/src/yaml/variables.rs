//! `${NAME}` in texts: taken from the environment, and kept out of everything that is shown.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use cogwork_text::Mask;

use crate::quote::Name;

/// The maximum number of bytes of all texts together, with what aliases repeat and variables bring.
pub(super) const MAX_TEXT: usize = 1024 * 1024;

/// How variables are looked up. A function and not the process's own environment, so that tests, and
/// programs with a vault of their own, need none.
pub(crate) type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The values that came from the environment, by the names of their variables.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    values: BTreeMap<String, String>,
    /// Made when something is hidden.
    mask: OnceLock<Mask>,
}

impl Secrets {
    /// A shorter value is no secret, or one that cannot be told from a common word, and hiding it
    /// would riddle a text with holes. In bytes.
    const SHORTEST: usize = 4;

    pub(crate) fn keep(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
        self.mask.take();
    }

    /// Whether one of them has one of these in it.
    pub(crate) fn hold(&self, characters: [char; 2]) -> bool {
        self.values.values().any(|value| value.contains(characters))
    }

    /// The text with the names of the variables in place of their values, and of all parts of them.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.mask.get_or_init(|| self.mask()).hide(text)
    }

    fn mask(&self) -> Mask {
        let mut mask = Mask::new();
        for (name, value) in &self.values {
            let label: Arc<str> = format!("${{{name}}}").into();
            for secret in secrets_of(value)
                .into_iter()
                .filter(|secret| secret.len() >= Self::SHORTEST)
            {
                mask = mask.with_parts_of(secret, Arc::clone(&label));

                // Libraries take addresses apart, and some leave a piece out.
                for piece in pieces(secret).filter(|piece| piece.len() >= Self::SHORTEST) {
                    mask = mask.with_value(piece, Arc::clone(&label));
                }
            }
        }

        mask
    }
}

/// What must not be shown of a value: all of it. Of an address for HTTP, all but scheme, host and port,
/// without which no error of a connection could be understood.
fn secrets_of(value: &str) -> Vec<&str> {
    let scheme = ["http://", "https://"].into_iter().find(|scheme| {
        value
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });

    let Some(address) = scheme.and_then(|scheme| value.get(scheme.len()..)) else {
        return vec![value];
    };

    let end_of_host = address.find(['/', '\\', '?', '#']).unwrap_or(address.len());
    let (authority, path) = address
        .split_at_checked(end_of_host)
        .unwrap_or((address, ""));
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);

    vec![user, path]
}

/// The pieces that an address has, where a value is one or a part of one.
fn pieces(value: &str) -> impl Iterator<Item = &str> {
    value.split(['/', '\\', '?', '#', '@', ':', '&', '='])
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
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
    while let Some((before, after)) = rest
        .split_once('$')
        .filter(|_| filled.text.len() <= MAX_TEXT)
    {
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
                None => filled.problems.push(format!(
                    "the environment variable `{}` is not set; expected a value",
                    Name(name)
                )),
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
