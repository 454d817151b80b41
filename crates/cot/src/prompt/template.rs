//! Templates, in which `{name}` is replaced with a value. A name is a run of lower-case letters and
//! underscores between braces; any other brace is text.

/// Replaces every known name. Unknown names are kept, so that they are noticed even if the check
/// was skipped. The values themselves are not searched for names.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut pieces = template.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();

    for piece in pieces {
        let name = name(piece);
        let value = name.and_then(|name| values.iter().find(|(known, _)| *known == name));

        match (name, value) {
            (Some(name), Some((_, value))) => {
                text.push_str(value);
                text.push_str(piece.get(name.len() + 1..).unwrap_or_default());
            }
            // A value may contain braces, which are never filled in again.
            _ => text.extend(["{", piece]),
        }
    }

    text
}

/// Returns the names that a template uses.
pub(super) fn names(template: &str) -> Vec<&str> {
    template.split('{').skip(1).filter_map(name).collect()
}

/// Returns the name with which the text after a brace begins.
fn name(piece: &str) -> Option<&str> {
    let (name, _) = piece.split_once('}')?;
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';

    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}
