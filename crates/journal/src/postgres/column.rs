//! Texts in columns.

/// Returns a text that a column can contain. PostgreSQL has no text with NUL, so the symbol for it
/// is listed instead. The lines contain it escaped, as JSON does.
pub(super) fn for_column(text: &str) -> String {
    text.replace('\0', "\u{2400}")
}
