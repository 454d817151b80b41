//! Reads quoted texts, including those with misplaced quotes.

/// The content of a quoted text, and the problem with its quotes.
pub(super) struct Quoted {
    pub(super) text: String,
    /// The start of the repair message, which ends with the name of the key or item.
    pub(super) fault: Option<&'static str>,
}

/// Reads a text that begins with a quote.
pub(super) fn read(text: &str, quote: char) -> Quoted {
    let inner = text.get(1..).unwrap_or_default();
    let found = |text: String, fault| Quoted { text, fault };
    let Some(end) = closing(inner, quote) else {
        return found(
            unescaped_or_verbatim(inner, quote).0,
            Some("closed the quote of"),
        );
    };

    let (body, rest) = inner.split_at_checked(end).unwrap_or((inner, ""));
    let rest = rest.get(1..).unwrap_or_default().trim();
    if rest.is_empty() || rest.starts_with('#') {
        let (text, faulty) = unescaped_or_verbatim(body, quote);
        return found(
            text,
            faulty.then_some("kept the backslashes in the text of"),
        );
    } else if rest == "," {
        return found(
            unescaped_or_verbatim(body, quote).0,
            Some("left out the comma behind"),
        );
    }

    match wrapped(inner, quote, body, rest) {
        Some(body) => found(
            unescaped_or_verbatim(body, quote).0,
            Some("escaped the quotes inside of"),
        ),
        None => found(text.to_owned(), Some("put quotes around the text of")),
    }
}

/// Returns the content between the outer quotes of a text that also contains inner quotes, such as
/// `"He said "no" to it"` or `'it's'`. `"a" and "b"` is not such a text, because its first two
/// quotes form a pair.
fn wrapped<'t>(inner: &'t str, quote: char, before: &str, behind: &str) -> Option<&'t str> {
    let body = inner.trim_end().strip_suffix(quote)?;
    let opens = before.is_empty()
        || before.ends_with(char::is_whitespace)
        || before.ends_with(['(', '[', '=']);
    let apostrophe = quote == '\''
        && before.ends_with(char::is_alphanumeric)
        && behind.starts_with(char::is_alphanumeric);

    // `behind` is trimmed, so the text is checked again here: a quote that is followed by
    // whitespace is a closing one.
    let glued = inner
        .get(before.len() + 1..)
        .is_some_and(|rest| !rest.starts_with(char::is_whitespace));
    (glued && (opens || apostrophe)).then_some(body)
}

/// Returns the offset of the closing quote.
pub(super) fn closing(text: &str, quote: char) -> Option<usize> {
    closing_quote(text, quote)
}

fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && quote == '"' {
            chars.next();
        } else if c == quote {
            if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') {
                chars.next();
            } else {
                return Some(at);
            }
        }
    }

    None
}

/// Replaces escapes. If one of them is invalid, as in a Windows path, only `\"` and `\\` are
/// treated as escapes, and all other backslashes are kept.
pub(super) fn unescaped_or_verbatim(body: &str, quote: char) -> (String, bool) {
    if quote != '"' {
        return (body.replace("''", "'"), false);
    }

    match unescaped(body) {
        Some(text) => (text, false),
        None => (body.replace("\\\"", "\"").replace("\\\\", "\\"), true),
    }
}

fn unescaped(body: &str) -> Option<String> {
    let mut out = String::with_capacity(body.len());
    let mut chars = body.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }

        let digits = match chars.next()? {
            'n' => {
                out.push('\n');
                continue;
            }
            't' => {
                out.push('\t');
                continue;
            }
            'r' => {
                out.push('\r');
                continue;
            }
            c @ ('"' | '\\' | '/' | ' ') => {
                out.push(c);
                continue;
            }
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return None,
        };

        out.push(character(&mut chars, digits)?);
    }

    Some(out)
}

/// Reads a character given as hexadecimal digits, or as two such numbers if JSON uses a surrogate
/// pair.
fn character(chars: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let mut number = || {
        let text: String = chars.by_ref().take(digits).collect();
        (text.len() == digits)
            .then(|| u32::from_str_radix(&text, 16).ok())
            .flatten()
    };

    let first = number()?;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first);
    }

    chars.as_str().starts_with("\\u").then_some(())?;
    chars.by_ref().take(2).for_each(drop);
    let text: String = chars.by_ref().take(4).collect();
    let second = u32::from_str_radix(&text, 16)
        .ok()
        .filter(|low| (0xdc00..0xe000).contains(low))?;

    char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
}

/// Returns the content of a text that is completely enclosed in curly quotes.
pub(super) fn in_curly_quotes(text: &str) -> Option<&str> {
    let inner = text
        .strip_prefix(['“', '”', '„'])?
        .strip_suffix(['”', '“'])?;
    (!inner.contains(['“', '”', '„'])).then_some(inner)
}
