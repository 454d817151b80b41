//! The displayed texts of a step. They come from a model and may contain any characters.

use std::fmt;

use cogwork_text::OneLine;

use crate::Step;

/// A step on one line, without its status: `description: result (mark)`.
pub(crate) struct StepLine<'a>(pub(crate) &'a Step);

impl fmt::Display for StepLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", OneLine::new(&self.0.description))?;

        if let Some(result) = said(&self.0.result) {
            write!(f, ": {result}")?;
        }

        if let Some(mark) = said(&self.0.mark) {
            write!(f, " ({mark})")?;
        }

        Ok(())
    }
}

/// Returns the text of an optional field unless it is blank.
fn said(text: &Option<String>) -> Option<OneLine<&str>> {
    text.as_deref()
        // Models write an empty result for none.
        .filter(|text| !text.trim().is_empty())
        .map(OneLine::new)
}

/// Indents by two spaces per level.
pub(crate) fn indent(f: &mut fmt::Formatter<'_>, levels: usize) -> fmt::Result {
    (0..levels).try_for_each(|_| f.write_str("  "))
}
