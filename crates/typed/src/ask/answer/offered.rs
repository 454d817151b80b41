//! Choices that a problem offers.

/// Words that precede a choice, or that ask for a certain reply.
const BEFORE: &[&str] = &[
    "or",
    "and",
    "answer",
    "say",
    "write",
    "reply",
    "return",
    "respond",
    "with",
    "as",
    "oder",
    "und",
    "antworte",
    "schreibe",
    "mit",
    "ou",
    "et",
    "réponds",
    "o",
    "u",
    "y",
    "или",
    "и",
    "或",
    "或者",
    "または",
];

/// Words that follow a choice.
const AFTER: &[&str] = &[
    "or",
    "and",
    "if",
    "when",
    "where",
    "otherwise",
    "oder",
    "und",
    "wenn",
    "falls",
    "ou",
    "si",
    "o",
    "y",
    "или",
    "если",
];

/// Returns whether a problem lists `word` among its choices, or asks to reply with it. Both are in
/// lower case.
pub(super) fn is_offered(word: &str, problem: &str) -> bool {
    problem.match_indices(word).any(|(start, found)| {
        let before = problem.get(..start).unwrap_or_default();
        let after = problem.get(start + found.len()..).unwrap_or_default();
        is_quoted(before, after) || (opens_choice(before) && closes_choice(after))
    })
}

fn is_quoted(before: &str, after: &str) -> bool {
    before.ends_with(is_quote) && after.starts_with(is_quote)
}

fn is_quote(mark: char) -> bool {
    "'\"“”„«»「」".contains(mark)
}

/// Returns whether a choice can follow this text.
fn opens_choice(before: &str) -> bool {
    let bare = before.trim_end();
    if bare.ends_with(is_delimiter) {
        return true;
    }

    // A word that isn't apart may be long, and would be read again for every occurrence in it.
    if bare.len() == before.len() {
        return false;
    }

    let last = bare.rsplit(|mark: char| !mark.is_alphanumeric()).next();
    last.is_some_and(|word| BEFORE.contains(&word))
}

/// Returns whether a choice can precede this text.
fn closes_choice(after: &str) -> bool {
    let bare = after.trim_start();
    if bare.is_empty() || bare.starts_with(is_delimiter) || bare.starts_with(['.', '?', '。', '!'])
    {
        return true;
    }

    if bare.len() == after.len() {
        return false;
    }

    let next = bare.split(|mark: char| !mark.is_alphanumeric()).next();
    next.is_some_and(|word| AFTER.contains(&word))
}

/// Returns whether a mark separates choices.
fn is_delimiter(mark: char) -> bool {
    ",;:/|()[]{}-–—*•、，；：）（".contains(mark)
}
