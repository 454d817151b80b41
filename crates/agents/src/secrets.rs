//! `${NAME}` in texts: replaced with values from the environment, which are hidden in all output.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cogwork_llm::LlmError;
use cogwork_text::{Mask, Name};

/// The maximum number of bytes of all texts with variables, with their values.
pub(crate) const MAX_TEXT: usize = 1024 * 1024;

/// The maximum number of different variables of a flow, with all its files. Each of them is searched
/// for in everything that is shown.
const MAX_VARIABLES: usize = 256;

/// Looks up variables. It is a function, so that tests, and programs with a vault, do not need the
/// environment of the process.
pub(crate) type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The values that came from the environment, by the names of their variables. Clones share them:
/// clients and tools are created while the rest of the flow is still being read.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    values: BTreeMap<String, String>,
    mask: Mask,
}

impl Secrets {
    /// Adds a value.
    ///
    /// # Errors
    ///
    /// If there are [`MAX_VARIABLES`] others. A value beyond these isn't filled in, so it cannot be
    /// shown.
    fn keep(&self, name: &str, value: &str) -> Result<(), String> {
        let mut known = self.lock();
        if known.values.get(name).is_some_and(|known| known == value) {
            return Ok(());
        }
        // A variable that is used again takes no more room.
        if known.values.len() >= MAX_VARIABLES && !known.values.contains_key(name) {
            return Err(format!(
                "the flow, with all its files, has more than {MAX_VARIABLES} different variables; expected fewer"
            ));
        }

        known.values.insert(name.to_owned(), value.to_owned());
        known.mask = hiding(std::mem::take(&mut known.mask), name, value);
        Ok(())
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

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lock().values.keys()).finish()
    }
}

/// A text with its variables replaced, their names, and the problems.
#[derive(Default)]
pub(crate) struct Filled {
    pub(crate) text: String,
    pub(crate) variables: Vec<String>,
    pub(crate) problems: Vec<String>,
}

/// Replaces the variables of a text.
///
/// # Errors
///
/// If the flow has too many different ones.
pub(crate) fn fill(
    raw: &str,
    environment: &Environment,
    secrets: &Secrets,
) -> Result<Filled, String> {
    let mut filled = Filled::default();
    let mut rest = raw;
    let mut begins_none = false;

    // Longer texts are rejected, so the rest doesn't need to be filled in.
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
                // Told once for a text, however often it occurs.
                begins_none = true;
                filled.text.push('$');
                continue;
            };

            rest = behind;
            match environment(name) {
                Some(value) => {
                    secrets.keep(name, &value)?;
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
    // As in a shell. A server would only say that such a key is wrong.
    let bare = raw.strip_prefix('$').map(|bare| format!("{bare}}}"));
    if let Some(Some((bare, ""))) = bare.as_deref().map(name) {
        let message = format!(
            "`${bare}` is no variable without braces; expected `${{{bare}}}`, or `$$` for a dollar"
        );
        filled.problems.push(message);
    }
    if begins_none {
        filled.problems.push(
            "`${` begins no variable; expected `${NAME}` with a name of letters, digits and `_`, or `$$` for a dollar"
                .to_owned(),
        );
    }

    Ok(filled)
}

/// Returns the name of a variable, and the text after its brace.
fn name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let (name, behind) = text.split_at_checked(end)?;
    let behind = behind.strip_prefix('}')?;

    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some((name, behind))
}
