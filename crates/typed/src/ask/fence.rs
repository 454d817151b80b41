/// The labels of fences that may contain a reply. Others, such as `python`, contain code.
const LABELS: [&str; 11] = [
    "",
    "yaml",
    "yml",
    "json",
    "jsonc",
    "json5",
    "text",
    "txt",
    "plaintext",
    "markdown",
    "md",
];

/// Returns whether a fence with this label may contain a reply. Case doesn't matter.
///
/// ```
/// use cogwork_typed::ask::is_reply_fence;
///
/// assert!(is_reply_fence("JSON"));
/// assert!(is_reply_fence(""));
/// assert!(!is_reply_fence("python"));
/// ```
pub fn is_reply_fence(label: &str) -> bool {
    LABELS.iter().any(|known| known.eq_ignore_ascii_case(label))
}
