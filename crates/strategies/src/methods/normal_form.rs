//! The form in which answers are compared. Texts with the same meaning should have the same form.

mod unicode;

use cogwork_text::is_unsafe;

use self::unicode::common_form;

/// Returns the words, numbers and signs of a text, separated by single spaces.
///
/// Case, punctuation, formatting and an opening such as `The answer is` are removed, Unicode
/// variants of a character are unified, numbers are written by value (`1,000.50` as `1000.5`), and
/// units are kept. A text of punctuation alone keeps it. Takes linear time.
pub(super) fn normal_form(text: &str) -> String {
    let text = common_form(text.trim());
    let text = text.trim();
    let bare = unwrapped(text);
    let mut form = String::new();
    let mut before = ' ';
    let mut rest = bare;

    while !rest.is_empty() {
        let word = next_word(rest, before);
        if !word.form.is_empty() {
            if !form.is_empty() {
                form.push(' ');
            }
            form.push_str(&word.form);
        }

        let (taken, after) = rest.split_at(word.length.min(rest.len()));
        before = taken.chars().next_back().unwrap_or(before);
        rest = after;
    }

    let said = ["the final answer is ", "the answer is "]
        .iter()
        .find_map(|said| form.strip_prefix(said));
    match said.unwrap_or(&form) {
        "" => text.to_owned(),
        form => form.to_owned(),
    }
}

/// A word, number or sign.
struct Word {
    /// Its common form, which is empty for punctuation.
    form: String,
    /// Its length in the text, in bytes.
    length: usize,
}

/// Returns the first word of a text that follows the character `before`.
fn next_word(text: &str, before: char) -> Word {
    let first = text.chars().next().unwrap_or(' ');
    let sign = || Word {
        form: sign(first).map(String::from).unwrap_or_default(),
        length: first.len_utf8(),
    };

    if is_letter(first) {
        let end = text.find(|character| !is_letter(character));
        let word = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
        return Word {
            form: word_form(word),
            length: word.len(),
        };
    }

    match first {
        '.' | '0'..='9' => number(text).unwrap_or_else(sign),
        '-' if !before.is_alphanumeric() && before != ')' => negative(text).unwrap_or_else(sign),
        '+' if !before.is_alphanumeric() && before != ')' => positive(text).unwrap_or_else(sign),
        '*' if text.starts_with("**") => Word {
            form: String::new(),
            length: 2,
        },
        _ => sign(),
    }
}

/// Returns a word in the form in which it is compared.
fn word_form(word: &str) -> String {
    if word == "percent" {
        "%".to_owned()
    } else {
        word.to_owned()
    }
}

/// Returns the number after a plus sign, which is left out.
fn positive(text: &str) -> Option<Word> {
    let number = number(text.strip_prefix('+')?)?;
    Some(Word {
        length: 1 + number.length,
        ..number
    })
}

/// Returns the number after a minus sign.
fn negative(text: &str) -> Option<Word> {
    let number = number(text.strip_prefix('-')?)?;
    let length = 1 + number.length;
    let form = match number.form.as_str() {
        "0" => number.form,
        digits => format!("-{digits}"),
    };

    Some(Word { form, length })
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

/// Returns the number at the start of a text. A comma belongs to the
/// number if three digits follow it: `1,000` is a thousand, and `1,2` are two numbers.
fn number(text: &str) -> Option<Word> {
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
    let form = match fraction.trim_end_matches('0') {
        "" => whole.to_owned(),
        fraction => format!("{whole}.{fraction}"),
    };
    Some(Word { form, length: end })
}
