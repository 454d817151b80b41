/// The maximum length of a quoted input in errors, in characters.
const EXCERPT: usize = 60;

/// Returns the start of a text, to quote it in an error.
pub(crate) fn excerpt(text: &str) -> String {
    let mut rest = text.chars();
    let mut start: String = rest.by_ref().take(EXCERPT).collect();
    start.extend(rest.next().map(|_| '…'));

    start
}
