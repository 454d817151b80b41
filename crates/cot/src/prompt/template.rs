//! Templates, in which `{name}` is replaced with a value. The values themselves are not searched
//! for names.

/// A piece of a template.
enum Piece<'t> {
    Text(&'t str),
    Name(&'t str),
}

/// A name is a run of lower-case letters and underscores between braces; any other brace is text.
fn pieces(template: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }

        let mut from = 0;
        while let Some(open) = rest
            .get(from..)
            .and_then(|tail| tail.find('{'))
            .map(|offset| from + offset)
        {
            let after = rest.get(open + 1..).unwrap_or_default();
            let length = after
                .find(|c: char| !(c.is_ascii_lowercase() || c == '_'))
                .unwrap_or(after.len());
            if length > 0
                && after
                    .get(length..)
                    .is_some_and(|tail| tail.starts_with('}'))
            {
                if open > 0 {
                    let (text, tail) = rest.split_at(open);
                    rest = tail;
                    return Some(Piece::Text(text));
                }

                let (name, tail) = after.split_at(length);
                rest = tail.get(1..).unwrap_or_default();
                return Some(Piece::Name(name));
            }

            from = open + 1;
        }

        Some(Piece::Text(std::mem::take(&mut rest)))
    })
}

/// Replaces every known name. Unknown names are kept, so that they are noticed even if the check
/// was skipped.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(
        template.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>(),
    );
    for piece in pieces(template) {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Name(name) => match values.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => text.push_str(value),
                None => text.extend(["{", name, "}"]),
            },
        }
    }

    text
}

/// Returns the names that a template uses.
pub(super) fn names(template: &str) -> Vec<&str> {
    pieces(template)
        .filter_map(|piece| match piece {
            Piece::Name(name) => Some(name),
            Piece::Text(_) => None,
        })
        .collect()
}
