//! Texts of a step as they are printed. They come from a model, so they may hold anything.

use std::fmt;

use cogwork_text::OneLine;

use crate::Step;

/// The longest piece of an input that an error quotes, in characters.
const EXCERPT: usize = 60;

/// The beginning of a text, for an error to quote.
pub(crate) fn excerpt(text: &str) -> String {
    let mut rest = text.chars();
    let mut start: String = rest.by_ref().take(EXCERPT).collect();
    start.extend(rest.next().map(|_| '…'));

    start
}

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

/// The text of an optional field, if it says anything.
pub(crate) fn said(text: &Option<String>) -> Option<OneLine<&str>> {
    text.as_deref()
        .filter(|text| !text.trim().is_empty())
        .map(OneLine::new)
}

/// Two blanks for each level.
pub(crate) fn indent(f: &mut fmt::Formatter<'_>, levels: usize) -> fmt::Result {
    (0..levels).try_for_each(|_| f.write_str("  "))
}
