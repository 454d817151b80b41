//! The columns of a run with its status.

use cogwork_flow::journal::Json;

use crate::header::Header;
use crate::summary::{Standing, Stopped};
use crate::waits::is_json;
use crate::{ForkOrigin, RunStatus};

/// The columns of a run with its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) status: &'static str,
    pub(crate) error: Option<String>,
    pub(crate) action: Option<String>,
    pub(crate) steps: Option<i64>,
}

impl Columns {
    /// Returns the columns of a new run.
    pub(crate) fn open() -> Self {
        Self {
            status: "open",
            error: None,
            action: None,
            steps: None,
        }
    }

    pub(crate) fn of(standing: &Standing) -> Self {
        match standing.stopped() {
            Some(Stopped::Failed { error }) => Self {
                status: "failed",
                error: Some(error.clone()),
                ..Self::open()
            },
            Some(Stopped::Ended { action, steps }) => Self {
                status: "ended",
                action: Some(action.clone()),
                steps: Some(count(*steps)),
                ..Self::open()
            },
            None if standing.is_paused() => Self {
                status: "paused",
                ..Self::open()
            },
            None => Self::open(),
        }
    }
}

/// Returns the status that is recorded in these columns. The waits of a paused run are in a table
/// of their own.
pub(crate) fn status(
    status: &str,
    error: Option<String>,
    action: Option<String>,
    steps: Option<i64>,
) -> RunStatus {
    match status {
        "paused" => RunStatus::Paused { waits: Vec::new() },
        "failed" => RunStatus::Failed {
            error: error.unwrap_or_default(),
        },
        "ended" => RunStatus::Ended {
            action: action.unwrap_or_default(),
            steps: u64::try_from(steps.unwrap_or_default()).unwrap_or_default(),
        },
        _ => RunStatus::Open,
    }
}

/// Returns where a run was forked from, for a column. The first line contains it as well, but is as
/// long as the input.
pub(crate) fn fork_column(header: &Header) -> Option<String> {
    serde_json::to_string(header.fork.as_ref()?).ok()
}

/// Reads where a run was forked from.
pub(crate) fn fork(column: Option<&str>) -> Option<ForkOrigin> {
    serde_json::from_str(column?).ok()
}

/// Converts a number for a column.
pub(crate) fn count(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Returns the schema in a column.
pub(crate) fn read_schema(text: &str) -> Option<Json> {
    let schema = Json::from_record(text);
    is_json(&schema).then_some(schema)
}
