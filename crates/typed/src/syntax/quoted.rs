//! Texts in quotes.

use std::borrow::Cow;

/// The content of a text in quotes.
pub(super) struct Unescaped {
    pub(super) text: String,
    /// Whether it has characters or escapes that JSON doesn't allow.
    pub(super) is_changed: bool,
}

/// Replaces the escapes of JSON and YAML. A backslash that escapes nothing is kept, and an escape
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
        let Some(escape) = rest.next() else {
            is_changed = true;
            break;
        };

        let digits = match escape {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        is_changed |= !matches!(escape, 'u' | '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't');
        if let Some(meant) = simple_escape(escape) {
            text.push(meant);
        } else if digits > 0 && rest.as_str().len() < digits {
            is_changed = true;
            break;
        } else if let Some(meant) = code_point(&mut rest, digits) {
            text.push(meant);
        } else {
            is_changed = true;
            text.extend(['\\', escape]);
        }
    }

    Unescaped { text, is_changed }
}

fn simple_escape(escape: char) -> Option<char> {
    Some(match escape {
        '"' | '\\' | '/' | '\'' => escape,
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        '0' => '\0',
        'a' => '\u{7}',
        'v' => '\u{b}',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        _ => return None,
    })
}

/// Reads the digits of an escape, or of the two that make one character.
fn code_point(rest: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let mut ahead = rest.clone();
    let first = hex(&mut ahead, digits)?;

    let code = if (0xd800..0xdc00).contains(&first) {
        let is_pair = ahead.next() == Some('\\') && ahead.next() == Some('u');
        let second =
            hex(&mut ahead, 4).filter(|code| is_pair && (0xdc00..0xe000).contains(code))?;
        0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
    } else {
        first
    };

    let character = char::from_u32(code)?;
    *rest = ahead;
    Some(character)
}

fn hex(rest: &mut std::str::Chars<'_>, digits: usize) -> Option<u32> {
    let code = rest
        .as_str()
        .get(..digits)
        .filter(|code| !code.is_empty())?;
    let code = u32::from_str_radix(code, 16).ok()?;
    *rest = rest.as_str().get(digits..)?.chars();
    Some(code)
}

/// Joins the lines of a text in quotes as YAML does.
fn folded(body: &str) -> Cow<'_, str> {
    if !body.contains('\n') {
        return body.into();
    }

    let mut lines = body.split('\n');
    let mut text = lines.next().unwrap_or_default().trim_end().to_owned();
    let mut breaks = 0_usize;

    for line in lines.map(|line| line.trim_matches([' ', '\t', '\r'])) {
        if line.is_empty() {
            breaks += 1;
            continue;
        }
        if text.ends_with('\\') && breaks == 0 {
            text.pop();
        } else {
            push_breaks(&mut text, breaks);
        }
        text.push_str(line);
        breaks = 0;
    }

    // The closing quote may be on a line of its own.
    if breaks > 0 {
        push_breaks(&mut text, breaks - 1);
    }
    text.into()
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

/// Returns the text in quotes of YAML.
pub(super) fn in_quotes(body: &str, quote: char) -> String {
    match quote {
        '"' => unescaped(&folded(body)).text,
        _ => folded(body).replace("''", "'"),
    }
}
