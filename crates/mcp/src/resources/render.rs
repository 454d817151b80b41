use super::{SessionFormat, Shown, markdown, mermaid};

impl Shown {
    /// Returns the session as a text. JSON isn't made from what is shown.
    pub(crate) fn render(&self, format: SessionFormat) -> String {
        match format {
            SessionFormat::Mermaid => mermaid::draw(self),
            SessionFormat::Markdown | SessionFormat::Json => markdown::write(self),
        }
    }
}
