//! Events as lines of JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::event::{RecordedEvent, RecordedKind, RecordedPause, RecordedReport};

/// The source of reports of calls to models.
pub(crate) const CHAT: &str = "chat";

/// An event as it is written.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<&'a str>,
    at: f64,
    #[serde(flatten)]
    kind: &'a Value,
}

/// The kinds that this version knows, as they are written.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Known {
    RunStarted,
    Resumed {
        started: f64,
    },
    StepEntered,
    PhaseFinished {
        phase: String,
        took: f64,
    },
    Retrying {
        attempts: u32,
        delay: f64,
        error: String,
    },
    Noted {
        text: String,
    },
    Reported {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        report: Value,
    },
    Moved {
        action: String,
        to: String,
    },
    Ended {
        action: String,
        steps: u64,
    },
    Replayed,
    Paused(RecordedPause),
    Failed {
        error: String,
    },
    Lost {
        count: u64,
    },
    Full {
        limit: u64,
    },
}

const KNOWN: [&str; 14] = [
    "run_started",
    "resumed",
    "step_entered",
    "phase_finished",
    "retrying",
    "noted",
    "reported",
    "moved",
    "ended",
    "replayed",
    "paused",
    "failed",
    "lost",
    "full",
];

/// The types of reports about models.
const CHAT_TYPES: [&str; 6] = [
    "message",
    "tools",
    "chat",
    "chat_failed",
    "judged",
    "embedded",
];

impl RecordedEvent {
    /// Reads an event from a line of JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if the line isn't a JSON object with a `type`, or if a field of a known type
    /// is missing or invalid. Unknown types and fields are no error.
    pub fn from_json(line: &[u8]) -> Result<Self, serde_json::Error> {
        let mut fields: Map<String, Value> = serde_json::from_slice(line)?;

        let step = fields.remove("step").map(serde_json::from_value);
        let at = fields.remove("at").map(serde_json::from_value);

        Ok(Self {
            step: step.transpose()?,
            at: at.transpose()?.unwrap_or_default(),
            kind: read_kind(fields)?,
        })
    }

    /// Returns the event as a line of JSON, without the end of the line.
    ///
    /// # Errors
    ///
    /// Returns an error if a number isn't finite.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let kind = written(&self.kind)?;

        serde_json::to_string(&Written {
            step: self.step.as_deref(),
            at: self.at,
            kind: &kind,
        })
    }
}

fn read_kind(mut fields: Map<String, Value>) -> Result<RecordedKind, serde_json::Error> {
    let name = fields.get("type").and_then(Value::as_str);
    let Some(name) = name.map(str::to_owned) else {
        let error = "the line has no `type`, such as \"step_entered\"";
        return Err(serde::de::Error::custom(error));
    };

    if !KNOWN.contains(&name.as_str()) {
        fields.remove("type");
        return Ok(RecordedKind::Unknown { name, fields });
    }

    let known = serde_json::from_value(Value::Object(fields))?;
    Ok(match known {
        Known::RunStarted => RecordedKind::RunStarted,
        Known::Resumed { started } => RecordedKind::Resumed { started },
        Known::StepEntered => RecordedKind::StepEntered,
        Known::PhaseFinished { phase, took } => RecordedKind::PhaseFinished { phase, took },
        Known::Retrying {
            attempts,
            delay,
            error,
        } => RecordedKind::Retrying {
            attempts,
            delay,
            error,
        },
        Known::Noted { text } => RecordedKind::Noted { text },
        Known::Reported { source, report } => RecordedKind::Reported(read_report(source, report)?),
        Known::Moved { action, to } => RecordedKind::Moved { action, to },
        Known::Ended { action, steps } => RecordedKind::Ended { action, steps },
        Known::Replayed => RecordedKind::Replayed,
        Known::Paused(pause) => RecordedKind::Paused(pause),
        Known::Failed { error } => RecordedKind::Failed { error },
        Known::Lost { count } => RecordedKind::Lost { count },
        Known::Full { limit } => RecordedKind::Full { limit },
    })
}

fn read_report(source: Option<String>, report: Value) -> Result<RecordedReport, serde_json::Error> {
    let name = report.get("type").and_then(Value::as_str);
    let is_known = name.is_some_and(|name| CHAT_TYPES.contains(&name));

    if source.as_deref() == Some(CHAT) && is_known {
        let chat = serde_json::from_value(report)?;
        return Ok(RecordedReport::Chat(Box::new(chat)));
    }

    Ok(RecordedReport::Other { source, report })
}

fn written(kind: &RecordedKind) -> Result<Value, serde_json::Error> {
    let known = match kind.clone() {
        RecordedKind::RunStarted => Known::RunStarted,
        RecordedKind::Resumed { started } => Known::Resumed { started },
        RecordedKind::StepEntered => Known::StepEntered,
        RecordedKind::PhaseFinished { phase, took } => Known::PhaseFinished { phase, took },
        RecordedKind::Retrying {
            attempts,
            delay,
            error,
        } => Known::Retrying {
            attempts,
            delay,
            error,
        },
        RecordedKind::Noted { text } => Known::Noted { text },
        RecordedKind::Reported(RecordedReport::Chat(chat)) => Known::Reported {
            source: Some(CHAT.to_owned()),
            report: serde_json::to_value(chat)?,
        },
        RecordedKind::Reported(RecordedReport::Other { source, report }) => {
            Known::Reported { source, report }
        }
        RecordedKind::Moved { action, to } => Known::Moved { action, to },
        RecordedKind::Ended { action, steps } => Known::Ended { action, steps },
        RecordedKind::Replayed => Known::Replayed,
        RecordedKind::Paused(pause) => Known::Paused(pause),
        RecordedKind::Failed { error } => Known::Failed { error },
        RecordedKind::Lost { count } => Known::Lost { count },
        RecordedKind::Full { limit } => Known::Full { limit },
        RecordedKind::Unknown { name, mut fields } => {
            fields.insert("type".to_owned(), Value::String(name));
            return Ok(Value::Object(fields));
        }
    };

    serde_json::to_value(known)
}
