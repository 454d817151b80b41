//! The form in which answers are compared: texts of the same meaning should be equal in it.

use cogwork_text::is_unsafe;

/// Returns the words, numbers and signs of a text, separated by single spaces.
///
/// Case, punctuation, formatting and an opening such as `The answer is` are removed, numbers are
/// written by value (`1,000.50` as `1000.5`), and units are kept. A text of punctuation alone isn't
/// changed. Takes linear time.
pub(super) fn normal_form(text: &str) -> String {
    let text = text.trim();
    let bare = unwrapped(text);
    let mut form = String::new();
    let mut before = ' ';
    let mut rest = bare;

    while let Some(first) = rest.chars().next() {
        let (word, length) = match first {
            '.' | '0'..='9' => number(rest).unwrap_or((String::new(), first.len_utf8())),
            '-' | '−' if !before.is_alphanumeric() && before != ')' => {
                let after = rest.get(first.len_utf8()..).unwrap_or_default();
                match number(after) {
                    Some((digits, length)) if digits == "0" => (digits, first.len_utf8() + length),
                    Some((digits, length)) => (format!("-{digits}"), first.len_utf8() + length),
                    None => ("-".to_owned(), first.len_utf8()),
                }
            }
            _ if is_letter(first) => {
                let end = rest
                    .find(|character| !is_letter(character))
                    .unwrap_or(rest.len());
                (rest.get(..end).unwrap_or_default().to_lowercase(), end)
            }
            _ if rest.starts_with("**") => (String::new(), 2),
            _ => (
                sign(first).map(String::from).unwrap_or_default(),
                first.len_utf8(),
            ),
        };

        if !word.is_empty() {
            if !form.is_empty() {
                form.push(' ');
            }
            form.push_str(&word);
        }

        let (taken, after) = rest.split_at(length.min(rest.len()));
        before = taken.chars().next_back().unwrap_or(before);
        rest = after;
    }

    let said = ["the final answer is ", "the answer is "]
        .iter()
        .find_map(|said| form.strip_prefix(said));
    match said.unwrap_or(&form) {
        "" => text.to_lowercase(),
        form => form.to_owned(),
    }
}

/// Removes the markup around a result.
fn unwrapped(text: &str) -> &str {
    [("$$", "$$"), ("$", "$"), ("\\boxed{", "}")]
        .iter()
        .fold(text, |text, (opening, closing)| {
            let inside = text
                .strip_prefix(opening)
                .and_then(|rest| rest.strip_suffix(closing));
            inside.map_or(text, str::trim)
        })
}

fn is_letter(character: char) -> bool {
    character.is_alphanumeric() && !character.is_ascii_digit()
}

/// Returns a sign that has a meaning, unlike punctuation.
fn sign(character: char) -> Option<char> {
    match character {
        '−' => Some('-'),
        '×' | '·' => Some('*'),
        '÷' => Some('/'),
        '.' | ',' | ';' | ':' | '!' | '?' | '"' | '\'' | '`' | '_' | '(' | ')' | '[' | ']'
        | '{' | '}' | '\\' => None,
        '“' | '”' | '„' | '‘' | '’' | '«' | '»' | '…' | '–' | '—' | '•' | '¿' | '¡' => {
            None
        }
        other if other.is_whitespace() || is_unsafe(other) => None,
        other => Some(other),
    }
}

/// Returns the number at the start of a text, and its length in the text. A comma belongs to the
/// number if three digits follow it: `1,000` is a thousand, and `1,2` are two numbers.
fn number(text: &str) -> Option<(String, usize)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(text);
    let mut whole = text.get(..end)?.to_owned();

    if (1..=3).contains(&end) {
        while let Some(group) = text
            .get(end..)
            .and_then(|rest| rest.strip_prefix(','))
            .filter(|rest| digits(rest) == 3)
        {
            whole.push_str(group.get(..3)?);
            end += 4;
        }
    }

    let fraction = text
        .get(end..)?
        .strip_prefix('.')
        .map_or("", |rest| rest.get(..digits(rest)).unwrap_or_default());
    if !fraction.is_empty() {
        end += 1 + fraction.len();
    }

    if whole.is_empty() && fraction.is_empty() {
        return None;
    }

    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    Some(match fraction.trim_end_matches('0') {
        "" => (whole.to_owned(), end),
        fraction => (format!("{whole}.{fraction}"), end),
    })
}
