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
    let doubled = with_commands(body);
    let mut is_changed = doubled.is_some();
    let mut rest = doubled.as_deref().unwrap_or(body).chars();

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
        is_changed |= !matches!(escape, 'u' | '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't');
        match escape {
            '"' | '\\' | '/' | '\'' => text.push(escape),
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'u' => match code_point(rest.as_str()) {
                Some((meant, length)) => {
                    text.push(meant);
                    rest = rest.as_str().get(length..).unwrap_or_default().chars();
                }
                None if is_half(rest.as_str()) => {
                    is_changed = true;
                    break;
                }
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

/// Commands of LaTeX that begin like an escape, and leave no word without it.
const COMMANDS: &str = "bar begin beta binom bmod boxed bullet forall frac nabla neq rangle rho right \
                        rightarrow text textbf tfrac theta times triangle";

/// Returns a text in quotes with each backslash doubled that begins a command of LaTeX, as in `\frac`,
/// or `None` if there are none. Models forget to double them, and `\f` is an escape of JSON and YAML.
pub(super) fn with_commands(body: &str) -> Option<String> {
    let mut doubled = String::new();
    let mut rest = body;
    let mut has_commands = false;
    while let Some((before, after)) = rest.split_once('\\') {
        let end = after.find(|next: char| !next.is_ascii_alphabetic());
        let word = after.get(..end.unwrap_or(after.len())).unwrap_or_default();
        let is_command = COMMANDS.split(' ').any(|command| command == word);
        has_commands |= is_command;

        doubled.push_str(before);
        doubled.push_str(if is_command { r"\\" } else { r"\" });
        // What is escaped begins nothing, even if it is a backslash.
        let escaped = after.chars().next().map_or(0, char::len_utf8);
        let (escaped, after) = after.split_at(escaped);
        doubled.push_str(escaped);
        rest = after;
    }

    doubled.push_str(rest);
    has_commands.then_some(doubled)
}

/// Returns the character that the digits of an escape mean, or those of two escapes, and how long they
/// are.
fn code_point(rest: &str) -> Option<(char, usize)> {
    [4, 10].into_iter().find_map(|length| {
        let digits = rest.get(..length)?;
        let text: String = serde_json::from_str(&format!("\"\\u{digits}\"")).ok()?;
        Some((text.chars().next()?, length))
    })
}

/// Returns whether a text may end inside an escape, or between the two of one character.
fn is_half(rest: &str) -> bool {
    let second = rest.get(4..).filter(|_| rest.starts_with(['d', 'D']));
    let is_begun = |second: &str| second.starts_with("\\u") || "\\u".starts_with(second);
    rest.len() < 4 || second.is_some_and(|second| second.len() < 6 && is_begun(second))
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
