//! What was probably meant by a line that is not YAML.

use cogwork_text::Escaped;

/// The maximum number of characters of a line that are shown.
const MAX_SHOWN: usize = 120;

/// The characters with which a text cannot begin, unless it is in quotes.
const SPECIAL: [char; 10] = ['{', '[', '"', '\'', '@', '`', '%', '*', '!', '&'];

/// Returns the end of a message about a syntax error: what to change, if that is likely, and the
/// line.
pub(super) fn about(line: &str, info: &str) -> String {
    let hint = hint(line, info).map_or_else(String::new, |hint| format!("; {hint}"));
    if line.trim().is_empty() {
        return hint;
    }

    // The line isn't parsed, so a key in it isn't known to be a value from the environment.
    let shown = without_secrets(line.trim());
    let shown = Escaped::new(shown).with_max_chars(MAX_SHOWN);
    format!("{hint}; the line is `{shown}`")
}

fn hint(line: &str, info: &str) -> Option<String> {
    let indentation = line.len() - line.trim_start().len();
    let indentation = line.get(..indentation).unwrap_or_default();
    let value = value_of(line);

    // Tabs look like spaces in most editors.
    if indentation.contains('\t') || value.starts_with('\t') {
        return Some("expected spaces, and no tabs, before it".to_owned());
    }
    let value = value.trim();

    if value.contains("${") && value.starts_with(['{', '[']) {
        return Some("inside { } and [ ] expected `\"${NAME}\"`, in quotes".to_owned());
    }

    let is_special = value.starts_with(SPECIAL) || value.contains(": ") || value.ends_with(':');
    let is_likely = is_special || info.contains("mapping values");
    is_likely.then(|| {
        "put a text with special characters in quotes, and double each `'` in it: `'a: b'`"
            .to_owned()
    })
}

/// Returns the value of a line such as `- key: value`.
fn value_of(line: &str) -> &str {
    let mut line = line.trim_start();
    while let Some(rest) = line.strip_prefix("- ") {
        line = rest.trim_start_matches(' ');
    }

    match line.split_once(':') {
        Some((key, value)) if !key.starts_with(SPECIAL) && value.starts_with([' ', '\t']) => {
            value.strip_prefix(' ').unwrap_or(value)
        }
        _ => line,
    }
}

/// Hides the value of a line whose key says that it is a secret.
fn without_secrets(line: &str) -> String {
    let lower = line.to_lowercase();
    let is_secret = ["key", "token", "secret", "password", "://"]
        .iter()
        .any(|word| lower.contains(word));

    match line.split_once(':') {
        Some((key, _)) if is_secret => format!("{key}: …"),
        _ => line.to_owned(),
    }
}
