//! Repairs malformed replies. Every repair is reported.
//!
//! The repairs are applied once, in this order. Each takes linear time and is idempotent:
//!
//! 1. `flow` rewrites JSON in block style, even if it is malformed.
//! 2. `scan` uses the known keys to split lines into keys and text, and repairs whitespace and the
//!    spelling of keys.
//! 3. `layout` assigns keys to steps and steps to lists, and repairs indentation and duplicate
//!    keys.
//! 4. `text` and `quoted` read values as the intended texts, and repair quotes and block scalars.
//! 5. `steps` handles other forms of steps, synonyms of statuses and truth values, and loops.
//!
//! The result is written as plain YAML and read strictly, so a repair never decides whether a reply
//! is valid.

mod draft;
mod flow;
mod flow_node;
mod flow_reader;
mod flow_text;
mod flow_writer;
mod layout;
mod lines;
mod part;
mod quoted;
mod repairs;
mod scan;
mod steps;
mod text;
mod words;

pub(super) use steps::repeats;

use draft::{Draft, DraftStep, Written};
use part::RawLines;
use repairs::Report;
use scan::Entry;

use cogwork_typed::ask::{Repair, RepairKind};

use super::bounds::Bounds;
use super::problem::Partial;

/// A block after its repairs.
#[derive(Debug)]
pub(super) struct Mended {
    written: Written,
    pub(super) repairs: Vec<Repair>,
    /// The readable parts, if the block as a whole cannot be read.
    pub(super) partial: Partial,
    /// Whether an incomplete step was removed at the end of the text.
    pub(super) truncated: bool,
}

impl Mended {
    /// Returns the block as YAML.
    pub(super) fn text(&self) -> &str {
        &self.written.text
    }

    /// Returns the line and the column of this offset in the raw reply, both from 1.
    pub(super) fn place(&self, offset: usize) -> (usize, usize) {
        let before = self
            .written
            .text
            .get(..offset)
            .unwrap_or(&self.written.text);

        let index = before
            .matches('\n')
            .count()
            .min(self.written.places.len().saturating_sub(1));
        let (line, column, value_column) =
            self.written.places.get(index).copied().unwrap_or((1, 1, 1));
        let in_line = before.rsplit('\n').next().unwrap_or_default();

        (
            line,
            if in_line.ends_with(": ") {
                value_column
            } else {
                column
            },
        )
    }
}

/// Where a block starts in the raw reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    /// The line, from 1.
    pub(super) line: usize,
    /// How many bytes of this line precede the block.
    pub(super) column: usize,
}

/// Repairs a block. `open` means that the text may be cut
/// off. Returns `None` if no part of the block is recognized.
pub(super) fn mend(block: &str, start: Start, open: bool, bounds: Bounds) -> Option<Mended> {
    let mut report = Report::default();
    let raw = RawLines::of(block, start.line, start.column);
    let lines = lines::split(block, start.line);
    let lines = flow::expand(lines, open, bounds.nesting, &mut report)?;
    let entries = scan::scan(lines, &mut report)?;
    let mut draft = layout::lay_out(&entries, &mut report)?;

    if open {
        drop_unfinished(&mut draft, entries.last(), &mut report);
    }

    steps::repair(&mut draft, &mut report);
    let truncated = report.has(RepairKind::CutOff);
    let written = draft.write();
    let partial = draft.partial();

    (!written.places.is_empty()).then(|| Mended {
        written,
        repairs: report.into_sorted(&raw),
        partial,
        truncated,
    })
}

/// Removes the last step if the text clearly ends inside it, because its status is missing or
/// incomplete or a quote is not closed.
fn drop_unfinished(draft: &mut Draft, last: Option<&Entry<'_>>, report: &mut Report) {
    let Some((line, mut steps)) = draft.planning.as_mut().map(|(line, steps)| (*line, steps))
    else {
        return;
    };

    let Some(entry) = last.filter(|entry| entry.is_in_plan() && entry.value.line > line) else {
        return;
    };

    while steps.last().is_some_and(|step| !step.sub_steps.is_empty()) {
        let Some(step) = steps.last_mut() else { return };
        steps = &mut step.sub_steps;
    }

    let status = |step: &DraftStep| {
        step.status
            .as_ref()
            .and_then(|field| words::status(field.text.as_deref()?))
    };

    let unfinished = |step: &DraftStep| {
        status(step).is_none() || !step.unknown.is_empty() || entry.is_in_open_quote()
    };
    if let Some(step) = steps.pop_if(|step| unfinished(step)) {
        report.add(RepairKind::CutOff, step.line, flow_reader::CUT);
    }
}
