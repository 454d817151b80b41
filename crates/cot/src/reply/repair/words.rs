//! Recognizes the words that models use for statuses, truth values and "nothing".

use cogwork_plan::Status;

/// Returns the status that a text names. An unknown word is an error; it is never guessed.
pub(super) fn status(text: &str) -> Option<Status> {
    // A checkbox before the word adds no information.
    let boxes = ["[x]", "[X]", "[ ]"];
    let behind = boxes.iter().find_map(|sign| text.trim().strip_prefix(sign));
    let text = behind
        .filter(|rest| !rest.trim().is_empty())
        .unwrap_or(text);
    let words = words(text);
    let is_one = |names: &[&str]| names.contains(&words.as_str());

    if is_one(&["done", "complete", "completed", "finished", "x"]) {
        Some(Status::Done)
    } else if is_one(&[
        "pending",
        "todo",
        "notdone",
        "notstarted",
        "open",
        "inprogress",
        "doing",
        "started",
        "ongoing",
        "active",
        "current",
        "incomplete",
        "unfinished",
        "waiting",
        "inwork",
    ]) {
        Some(Status::Pending)
    } else if is_one(&[
        "verificationneeded",
        "needsverification",
        "needverification",
        "verificationrequired",
        "verify",
        "toverify",
        "tobeverified",
        "needsreview",
        "unverified",
        "verification",
    ]) {
        Some(Status::VerificationNeeded)
    } else if words.is_empty() {
        sign(text)
    } else {
        None
    }
}

/// Returns the status for a single symbol.
fn sign(text: &str) -> Option<Status> {
    let has = |signs: &[char]| text.contains(signs);
    if has(&['✅', '✓', '✔', '☑']) {
        Some(Status::Done)
    } else if has(&['⏳', '☐', '⬜', '🔄', '🔲', '⌛']) || text.trim() == "[ ]" {
        Some(Status::Pending)
    } else if has(&['⚠', '❓', '❔']) {
        Some(Status::VerificationNeeded)
    } else {
        None
    }
}

/// Returns the truth value that a text names.
pub(super) fn truth(text: &str) -> Option<bool> {
    match words(text).as_str() {
        "true" | "yes" | "y" | "on" | "1" => Some(true),
        "false" | "no" | "n" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Returns whether a text only states that there is nothing.
pub(super) fn is_nothing(text: &str) -> bool {
    matches!(
        words(text).as_str(),
        "null" | "none" | "nil" | "na" | "empty" | "tbd" | "nothing" | ""
    ) || text.trim().is_empty()
}

/// Returns letters and digits in lower case. A text with other symbols between its words, such as
/// `true/false` or `Done, 4`, matches no known word.
fn words(text: &str) -> String {
    let around = |c: char| !c.is_alphanumeric();
    let inner = text.trim_matches(around);
    let between = |c: char| c.is_whitespace() || matches!(c, '_' | '-');

    if inner.chars().any(|c| !c.is_alphanumeric() && !between(c)) && inner.to_lowercase() != "n/a" {
        return inner.to_owned();
    }

    inner
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect::<String>()
        .to_lowercase()
}
