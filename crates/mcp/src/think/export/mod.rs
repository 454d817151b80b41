//! Sessions as JSON, Markdown and Mermaid, within bounds.

mod json;
mod markdown;
mod mermaid;
mod shown;

use cogwork_strategies::Session;

use crate::store::SessionId;

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// A snapshot that `Session::from_json` reads.
    Json,
    Markdown,
    Mermaid,
}

impl Format {
    pub(crate) const ALL: [(&str, Self); 3] = [
        ("json", Self::Json),
        ("markdown", Self::Markdown),
        ("mermaid", Self::Mermaid),
    ];
}

/// What to export.
pub(crate) struct Exporting<'a> {
    pub(crate) id: &'a SessionId,
    pub(crate) purpose: &'a str,
    pub(crate) session: &'a Session,
    /// How many thoughts are before the exported ones.
    pub(crate) offset: usize,
    /// The maximum length in bytes.
    pub(crate) bytes: usize,
}

/// A session in one of the forms.
pub(crate) struct Export {
    pub(crate) text: String,
    /// The offset at which to continue, if not all thoughts fit.
    pub(crate) next_offset: Option<usize>,
}

/// Returns a session in this form.
///
/// # Errors
///
/// Returns an error if the form cannot be divided and is too long.
pub(crate) fn export(format: Format, exporting: &Exporting<'_>) -> Result<Export, String> {
    match format {
        Format::Json => json::json(exporting),
        Format::Markdown => Ok(markdown::markdown(exporting)),
        Format::Mermaid => Ok(mermaid::mermaid(exporting)),
    }
}
