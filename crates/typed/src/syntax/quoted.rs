//! Texts in quotes.

/// The content of a text in quotes.
pub(super) struct Unescaped {
    pub(super) text: String,
    /// Whether it has characters or escapes that JSON doesn't allow.
    pub(super) is_changed: bool,
}

/// Replaces the escapes of JSON. A backslash that escapes nothing is kept, and an escape
/// that is cut off at the end is left out.
pub(super) fn unescaped(body: &str) -> Unescaped {
    let mut text = String::with_capacity(body.len());
    let mut is_changed = false;
    let mut rest = body.chars();

    while let Some(character) = rest.next() {
        if character != '\\' {
            is_changed |= character.is_ascii_control() && character != '\u{7f}';
            text.push(character);
            continue;
        }
        let is_command = begins_command(rest.as_str());
        let Some(escape) = rest.next() else {
            is_changed = true;
            break;
        };
        if is_command {
            is_changed = true;
            text.extend(['\\', escape]);
            continue;
        }

        is_changed |= !matches!(escape, 'u' | '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't');
        match escape {
            '"' | '\\' | '/' | '\'' => text.push(escape),
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'u' if rest.as_str().len() < 4 || is_half(&rest) => {
                is_changed = true;
                break;
            }
            'u' => match code_point(&mut rest) {
                Some(meant) => text.push(meant),
                None => {
                    is_changed = true;
                    text.push_str("\\u");
                }
            },
            _ => text.extend(['\\', escape]),
        }
    }

    Unescaped { text, is_changed }
}

/// Returns whether a backslash before this text begins a command of LaTeX, as in `\frac`, and not an
/// escape of JSON. Models forget to double it, and no text has a form feed or a backspace in a word.
fn begins_command(text: &str) -> bool {
    // Not `neq`: a line may begin with "equal".
    const COMMANDS: [&str; 6] = ["nabla", "right", "text{", "tfrac", "theta", "times"];

    match text.strip_prefix(['b', 'f']) {
        Some(rest) => rest.starts_with(|next: char| next.is_ascii_alphabetic()),
        None => COMMANDS.iter().any(|command| text.starts_with(command)),
    }
}

/// Reads the digits of an escape, or of the two that make one character.
fn code_point(rest: &mut std::str::Chars<'_>) -> Option<char> {
    let mut ahead = rest.clone();
    let first = hex(&mut ahead)?;

    let code = if (0xd800..0xdc00).contains(&first) {
        let is_pair = ahead.next() == Some('\\') && ahead.next() == Some('u');
        let second = hex(&mut ahead).filter(|code| is_pair && (0xdc00..0xe000).contains(code))?;
        0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
    } else {
        first
    };

    let character = char::from_u32(code)?;
    *rest = ahead;
    Some(character)
}

/// Returns whether a text ends inside the two escapes of one character.
fn is_half(rest: &std::str::Chars<'_>) -> bool {
    let mut ahead = rest.clone();
    let first = hex(&mut ahead).filter(|code| (0xd800..0xdc00).contains(code));
    let second = ahead.as_str();
    first.is_some() && second.len() < 6 && (second.starts_with("\\u") || "\\u".starts_with(second))
}

fn hex(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    let (digits, after) = rest.as_str().split_at_checked(4)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    *rest = after.chars();
    Some(code)
}

/// A single break between lines is a blank; further ones are kept.
pub(super) fn push_breaks(text: &mut String, blank_lines: usize) {
    match blank_lines {
        0 => text.push(' '),
        breaks => text.extend(std::iter::repeat_n('\n', breaks)),
    }
}

/// Returns whether what follows a quote can follow a text.
pub(super) fn ends_text(rest: &str) -> bool {
    rest.trim_start_matches([' ', '\t', '\r'])
        .chars()
        .next()
        .is_none_or(|next| matches!(next, ',' | ':' | '}' | ']' | '\n'))
}

/// Returns where a text in quotes of JSON or YAML ends.
pub(super) fn end_of_quote(inner: &str, quote: char) -> Option<usize> {
    let mut bytes = inner.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if quote == '"' => {
                bytes.next();
            }
            // In single quotes, YAML doubles the quote instead of escaping it.
            byte if char::from(byte) == quote => {
                let is_escaped =
                    quote == '\'' && bytes.peek().is_some_and(|(_, next)| *next == byte);
                if !is_escaped {
                    return Some(at);
                }
                bytes.next();
            }
            _ => {}
        }
    }
    None
}

/// Returns the text in quotes of YAML. One that YAML refuses is read as in JSON.
pub(super) fn in_quotes(body: &str, quote: char) -> String {
    // The parser is only asked where it would change something.
    let is_plain = !body.contains(['\\', '\n']) && !body.contains("''");
    let read = match is_plain {
        true => None,
        false => serde_yaml::from_str(&format!("{quote}{body}{quote}")).ok(),
    };
    read.unwrap_or_else(|| unescaped(body).text)
}
