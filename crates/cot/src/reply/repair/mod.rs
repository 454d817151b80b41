//! Repairs of what models write, each reported.
//!
//! They go over the block once, in this order; each is linear in the text and finds nothing more to do
//! in what it has done:
//!
//! 1. `flow`: JSON, however broken, becomes lines of block style.
//! 2. `scan`: lines are told from text by the keys that a reply has; blanks, spellings of keys.
//! 3. `layout`: keys go to their steps and steps to their lists; indentation, keys given twice.
//! 4. `text`, `quoted`: values become the texts they were meant to be; quotes, block scalars.
//! 5. `steps`: steps in other forms, statuses and truth values in other words, loops.
//!
//! What comes out is written as plain YAML and read as strictly as any other reply: a repair never
//! decides that a reply is valid.

mod draft;
mod flow;
mod flow_node;
mod flow_reader;
mod flow_text;
mod flow_writer;
mod keys;
mod layout;
mod lines;
mod quoted;
mod repairs;
mod scan;
mod steps;
mod text;
mod words;

pub(super) use keys::{Key, top_key};
pub use repairs::{Repair, RepairKind};
pub(super) use steps::repeats;

use draft::{Draft, DraftStep, Written};
use repairs::Report;
use scan::Entry;

use cogwork_read::charge;

use super::bounds::Bounds;
use super::problem::Partial;

/// A block after its repairs.
#[derive(Debug)]
pub(super) struct Mended {
    written: Written,
    pub(super) repairs: Vec<Repair>,
    /// What of it can be read, should the whole not be.
    pub(super) partial: Partial,
    /// Whether a step was left out because the text ends in it.
    pub(super) truncated: bool,
}

impl Mended {
    /// The block as YAML.
    pub(super) fn text(&self) -> &str {
        &self.written.text
    }

    /// The line and the column in the raw reply of what stands at this offset, both from 1.
    pub(super) fn place(&self, offset: usize) -> (usize, usize) {
        let before = self
            .written
            .text
            .get(..offset)
            .unwrap_or(&self.written.text);

        charge(before.len());
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

/// Repairs a block that begins in this line of the raw reply. `open`: nothing shows that it ends where
/// its text does. None if there is nothing in it that could be made out.
pub(super) fn mend(block: &str, first_line: usize, open: bool, bounds: Bounds) -> Option<Mended> {
    let mut report = Report::default();
    let lines = lines::split(block, first_line);
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
        repairs: report.into_sorted(),
        partial,
        truncated,
    })
}

/// Takes off the last step if the text ends in it and it shows: no status yet, or not a whole one, or a
/// quote that nothing closes.
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
