//! What a run reports itself to people who watch it.

use serde::Serialize;

use crate::engine::Json;
use crate::watch::{EventKind, ReportedValue};

/// The source of these reports.
const SOURCE: &str = "flow";

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Shown {
    /// The outcome of `exec`, as it is in the journal.
    Outcome { outcome: Json },
    /// The text of an item.
    Item { text: String },
}

pub(crate) fn outcome(outcome: &Json) -> EventKind {
    report(Shown::Outcome {
        outcome: outcome.clone(),
    })
}

pub(crate) fn item(text: String) -> EventKind {
    report(Shown::Item { text })
}

fn report(shown: Shown) -> EventKind {
    EventKind::Reported {
        report: ReportedValue::new(SOURCE, shown),
    }
}
