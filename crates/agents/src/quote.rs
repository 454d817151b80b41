//! Names inside messages. They come from files and may be any text; a message stays one readable line
//! that cannot steer a terminal.

use std::fmt::{self, Write};

/// A text with its control characters escaped, cut after [`Name::MAX`] characters.
pub(crate) struct Name<'a>(pub(crate) &'a str);

impl Name<'_> {
    const MAX: usize = 80;
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(Self::MAX) {
            if steers(character) {
                write!(f, "{}", character.escape_unicode())?;
            } else {
                f.write_char(character)?;
            }
        }
        if characters.next().is_some() { f.write_char('…') } else { Ok(()) }
    }
}

/// A whole message of another's making: as it is, but for what would steer a terminal.
pub(crate) fn one_line(message: &str) -> String {
    const MAX: usize = 1_000;
    let harmless = |c: char| if c.is_whitespace() || steers(c) { ' ' } else { c };
    let mut line: String = message.chars().take(MAX).map(harmless).collect();
    if message.chars().nth(MAX).is_some() {
        line.push('…');
    }
    line
}

/// Whether a character ends a line, moves the cursor, or turns the direction of the text.
pub(crate) fn steers(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// `` `a`, `b`, `c` ``; of many only the first [`LISTED`], and how many more there are.
pub(crate) fn list<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    const LISTED: usize = 20;
    let mut names = names.into_iter();
    let shown: Vec<_> =
        names.by_ref().take(LISTED).map(|name| format!("`{}`", Name(name.as_ref()))).collect();
    match (shown.is_empty(), names.count()) {
        (true, _) => "none".to_owned(),
        (_, 0) => shown.join(", "),
        (_, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The known name that was meant, if one is near: a slip of the hand in three letters.
pub(crate) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    /// Comparing takes the product of the lengths, and a name may be a whole file.
    const LONGEST: usize = 64;
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    let distance = |known: &'k str| {
        let far = strsim::osa_distance(&lower, &known.to_lowercase());
        (known.len() <= LONGEST && far <= (name.chars().count() / 3).max(1)).then_some((far, known))
    };
    known.into_iter().filter_map(distance).min_by_key(|(far, _)| *far).map(|(_, known)| known)
}

/// The end of a message about an unknown name.
pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{}`?", Name(name))).unwrap_or_default()
}
