//! The text of growing thoughts, in the events of a run.

use std::collections::BTreeSet;

use cogwork_cot::ReasoningEvent;
use cogwork_flow::engine::StepName;
use cogwork_flow::watch::{Event, EventKind, ReportedValue};
use cogwork_strategies::SolvingEvent;
use cogwork_typed::ask::ChatEvent;

/// A piece of text that is shown while it grows.
pub(crate) struct Piece<'e> {
    pub(crate) text: &'e str,
    /// Whether it replaces the earlier pieces of the step.
    pub(crate) is_start: bool,
}

/// The nodes that report their thoughts. Their raw replies are not for people.
#[derive(Default)]
pub(crate) struct Thinkers {
    places: BTreeSet<Option<String>>,
    /// The places whose text grows now.
    growing: BTreeSet<Option<String>>,
}

impl Thinkers {
    /// Returns the text that an event adds to what is shown of its step.
    pub(crate) fn piece<'e>(&mut self, event: &'e Event) -> Option<Piece<'e>> {
        let place = event.step.as_deref().map(StepName::place);

        let piece = match &event.kind {
            // The raw reply of a thought is JSON or YAML.
            EventKind::Noted { .. } if self.places.contains(&place) => None,
            EventKind::Noted { text } => Some(Piece {
                text,
                is_start: false,
            }),
            EventKind::Reported { report } => {
                if has_thoughts(report) {
                    self.places.insert(place.clone());
                }
                thinking(report)
            }
            _ => None,
        };
        if piece.is_some() {
            self.growing.insert(place);
        }
        piece
    }

    /// Returns the whole text of a reply or a thought that didn't grow, because its provider answers
    /// at once.
    pub(crate) fn whole<'e>(&mut self, event: &'e Event) -> Option<Piece<'e>> {
        let place = event.step.as_deref().map(StepName::place);
        let EventKind::Reported { report } = &event.kind else {
            return None;
        };

        let is_thinker = self.places.contains(&place);
        let text = if let Some(ChatEvent::Replied { response, .. }) = report.downcast_ref() {
            Some(response.text()).filter(|_| !is_thinker)
        } else if let Some(ReasoningEvent::Thought { text, .. }) = report.downcast_ref() {
            Some(text.as_str())
        } else if let Some(SolvingEvent::Stage { text, .. }) = report.downcast_ref() {
            Some(text.as_str())
        } else {
            None
        };

        let text = text?;
        // Otherwise the text would be shown twice.
        let has_grown = self.growing.remove(&place);
        (!has_grown).then_some(Piece {
            text,
            is_start: true,
        })
    }
}

fn has_thoughts(report: &ReportedValue) -> bool {
    let is_reasoning = report.downcast_ref::<ReasoningEvent>().is_some();
    is_reasoning || report.downcast_ref::<SolvingEvent>().is_some()
}

fn thinking(report: &ReportedValue) -> Option<Piece<'_>> {
    if let Some(ReasoningEvent::Thinking { text, is_start, .. }) = report.downcast_ref() {
        let is_start = *is_start;
        return Some(Piece { text, is_start });
    }

    match report.downcast_ref()? {
        SolvingEvent::Thinking { text, is_start, .. } => Some(Piece {
            text,
            is_start: *is_start,
        }),
        _ => None,
    }
}
