//! Parts of a text that are read without what is around them.

use serde_json::Value;

/// Returns the length of a comment at the start of a text; `None` if there is none.
pub(super) fn comment_length(text: &str) -> Option<usize> {
    if let Some(inside) = text.strip_prefix("/*") {
        let length = inside.find("*/").map(|end| end + "/**/".len());
        return Some(length.unwrap_or(text.len()));
    }

    let is_line = text.starts_with("//") || text.starts_with("# ");
    is_line.then(|| text.find('\n').unwrap_or(text.len()))
}

/// Returns the length of a number or literal before a comment, and otherwise of the whole word,
/// since a text without quotes may contain such characters.
pub(super) fn length_before_comment(word: &str) -> usize {
    let comment = ["//", "/*", "# "]
        .iter()
        .filter_map(|start| word.find(start))
        .min();
    let before = comment.and_then(|at| word.get(..at)).unwrap_or(word);
    let is_value = literal(before.trim()).is_some() || before.trim().parse::<f64>().is_ok();

    if is_value { before.len() } else { word.len() }
}

/// Returns where a quoted text ends.
pub(super) fn end_of_quote(inner: &str, quote: char) -> Option<usize> {
    let close = if quote == '“' { '”' } else { quote };
    let mut characters = inner.char_indices();

    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
            continue;
        }

        // An apostrophe isn't a closing quote.
        let is_end = character == close
            && (close != '\'' || ends_text(inner.get(at + 1..).unwrap_or_default()));
        if is_end {
            return Some(at);
        }
    }

    None
}

/// Returns whether what follows a quote can follow a text.
pub(super) fn ends_text(rest: &str) -> bool {
    let next = rest.trim_start().chars().next();
    next.is_none_or(|next| matches!(next, ',' | ':' | '}' | ']'))
}

pub(super) struct Unescaped {
    pub(super) text: String,
    /// Whether the text isn't as JSON requires.
    pub(super) is_changed: bool,
}

/// Returns a quoted text without its escapes. Characters that JSON requires to be escaped, and
/// backslashes that escape nothing, are kept.
pub(super) fn unescaped(body: &str) -> Unescaped {
    if let Ok(text) = serde_json::from_str::<String>(&format!("\"{body}\"")) {
        return Unescaped {
            text,
            is_changed: false,
        };
    }

    let mut escaped = String::with_capacity(body.len());
    let mut characters = body.chars().peekable();

    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('\\', Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => {
                escaped.push(character);
                escaped.extend(characters.next());
            }
            ('\\', Some('\'')) => {}
            ('\\', _) => escaped.push_str("\\\\"),
            ('"', _) => escaped.push_str("\\\""),
            (control, _) if control.is_control() => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(control).min(0xffff)));
            }
            _ => escaped.push(character),
        }
    }

    let text = serde_json::from_str(&format!("\"{escaped}\"")).unwrap_or_else(|_| body.to_owned());
    Unescaped {
        text,
        is_changed: true,
    }
}

/// Returns a word as a literal of JSON, unless it is a number that JSON would write differently,
/// such as a price of `1.10`.
pub(super) fn literal(word: &str) -> Option<&str> {
    match word {
        "true" | "false" | "null" => Some(word),
        "True" => Some("true"),
        "False" => Some("false"),
        "None" => Some("null"),
        number => {
            let value: Value = serde_json::from_str(number).ok()?;
            let written = value.to_string();
            (value.is_number() && written == number).then_some(number)
        }
    }
}
