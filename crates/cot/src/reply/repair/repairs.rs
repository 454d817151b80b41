use cogwork_text::OneLine;
use cogwork_typed::ask::{Repair, RepairKind};

use super::part::{Part, RawLines};

/// Collects repairs.
#[derive(Debug, Default)]
pub(super) struct Report(Vec<(Repair, Part)>);

impl Report {
    pub(super) fn add(&mut self, kind: RepairKind, line: usize, what: impl Into<String>) {
        self.add_part(kind, line, Part::Line, what);
    }

    /// Adds a repair of a part of a line.
    pub(super) fn add_part(
        &mut self,
        kind: RepairKind,
        line: usize,
        part: Part,
        what: impl Into<String>,
    ) {
        let what = what.into();
        self.0.push((Repair::new(kind, line, what), part));
    }

    /// Returns whether there is a repair of this kind.
    pub(super) fn has(&self, kind: RepairKind) -> bool {
        self.0.iter().any(|(repair, _)| repair.kind == kind)
    }

    /// Returns the repairs in the order of the lines, at most the first 1,000.
    pub(super) fn into_sorted(mut self, raw: &RawLines<'_>) -> Vec<Repair> {
        self.0.sort_by_key(|(repair, _)| repair.line);
        if let Some(line) = self.0.get(LISTED).map(|(repair, _)| repair.line) {
            let more = self.0.len() - LISTED;
            self.0.truncate(LISTED);
            self.add(
                RepairKind::More,
                line,
                format!("made {more} more repairs from here on"),
            );
        }

        let repairs = self.0.into_iter();
        let placed = repairs.map(|(repair, part)| raw.place(repair, &part));
        placed.collect()
    }
}

/// The maximum number of repairs that are listed. They are stored with every thought, and only
/// replies with loops need more.
const LISTED: usize = 1000;

/// The maximum number of characters of the model's text that a repair quotes.
const EXCERPT: usize = 40;

/// Returns the beginning of a text, for use as a quote.
pub(super) fn excerpt(text: &str) -> String {
    OneLine::new(text).with_max_chars(EXCERPT).to_string()
}
