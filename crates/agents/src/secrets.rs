//! `${NAME}` in texts: replaced with values from the environment, which are hidden in all output.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cogwork_llm::LlmError;
use cogwork_text::{Mask, Name};

/// The maximum number of bytes of all texts with variables, with their values.
pub(crate) const MAX_TEXT: usize = 1024 * 1024;

/// Looks up variables. It is a function, so that tests, and programs with a vault, do not need the
/// environment of the process.
pub(crate) type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The values that came from the environment, with the names of their variables. Clones share them:
/// clients and tools are created while the rest of the flow is still being read.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    values: BTreeSet<(String, String)>,
    mask: Mask,
}

impl Secrets {
    /// Adds a value.
    fn keep(&self, name: &str, value: &str) {
        let mut known = self.lock();
        // In a flow that is only drawn, names stand for values. They are no secrets, and a file may have
        // thousands.
        if value.strip_prefix('$') != Some(name)
            && known.values.insert((name.to_owned(), value.to_owned()))
        {
            known.mask = hiding(std::mem::take(&mut known.mask), name, value);
        }
    }

    /// Hides the values in the texts of an error.
    pub(crate) fn hide_in(&self, error: LlmError) -> LlmError {
        error.map_texts(|text| self.hide(text))
    }

    /// Replaces the values, and all parts of them, with the names of the variables.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.lock().mask.hide(text)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The minimum length of a secret, in bytes. Hiding shorter values would hide common words.
const SHORTEST: usize = 4;

/// Returns a mask that hides the value of a variable, too.
fn hiding(mask: Mask, name: &str, value: &str) -> Mask {
    let label: Arc<str> = format!("${{{name}}}").into();
    // Libraries split addresses, and may only show one of the pieces.
    let pieces = secrets_of(value)
        .into_iter()
        .flat_map(|secret| std::iter::once(secret).chain(pieces(secret)));

    let pieces = pieces.filter(|piece| piece.len() >= SHORTEST);
    pieces.fold(mask, |mask, piece| {
        mask.with_value(piece, Arc::clone(&label))
    })
}

/// Returns the parts of a value that must not be shown. This is the whole value, except for the
/// scheme, host and port of an HTTP address, which connection errors need to show.
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
    // A password may contain an `@`, the host can't.
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);

    vec![user, path]
}

/// Splits a value in the same way as addresses are split.
fn pieces(value: &str) -> impl Iterator<Item = &str> {
    value.split(['/', '\\', '?', '#', '@', ':', '&', '='])
}

/// A text with its variables replaced, their names, and the problems.
#[derive(Default)]
pub(crate) struct Filled {
    pub(crate) text: String,
    pub(crate) variables: Vec<String>,
    pub(crate) problems: Vec<String>,
}

/// Replaces the variables of a text.
pub(crate) fn fill(raw: &str, environment: &Environment, secrets: &Secrets) -> Filled {
    let mut filled = Filled::default();
    let mut rest = raw;

    // Longer texts are rejected, so the rest doesn't need to be filled in.
    while let Some((before, after)) = rest
        .split_once('$')
        .filter(|_| filled.text.len() <= MAX_TEXT)
    {
        filled.text.push_str(before);
        let Some((name, behind)) = after.strip_prefix('{').and_then(name) else {
            // Two dollars are one, and so is one that begins no variable.
            filled.text.push('$');
            rest = after.strip_prefix('$').unwrap_or(after);
            continue;
        };

        rest = behind;
        filled.variables.push(name.to_owned());
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
    }
    filled.text.push_str(rest);

    // As in a shell, or with a name that is none. A server would only say that such a key is wrong.
    let meant = raw.strip_prefix('$').unwrap_or_default();
    let is_meant = meant.starts_with('{') || name(&format!("{meant}}}")) == Some((meant, ""));
    if is_meant && filled.variables.is_empty() {
        let message = "the dollar begins no variable; expected `${NAME}` with a name of letters, digits and `_`, or `$$` for a dollar";
        filled.problems.push(message.to_owned());
    }

    filled
}

/// Returns the name of a variable, and the text after its brace.
fn name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let (name, behind) = text.split_at_checked(end)?;
    let behind = behind.strip_prefix('}')?;

    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some((name, behind))
}
