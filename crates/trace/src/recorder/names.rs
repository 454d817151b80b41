//! Which texts of an event are names.
//!
//! Names are of a fixed set, or chosen by the program or the server: those of nodes, tools, stages
//! and models, ids, and words such as a verdict. They are in every record. All other texts are
//! content.

use serde_json::{Map, Value};

/// The names in events, as paths of fields. A list has the path of its field.
const OF_EVENTS: [&str; 9] = [
    "action",
    "also.event",
    "also.waits_at",
    "event",
    "phase",
    "source",
    "to",
    "type",
    "waits_at",
];

const OF_CHAT: [&str; 18] = [
    "adjustments",
    "blocks.kind",
    "blocks.media_type",
    "finish",
    "id",
    "model",
    "name",
    "repairs.kind",
    "role",
    "settings.effort",
    "settings.format",
    "tool_call_id",
    "tool_calls.id",
    "tool_calls.name",
    "tool_name",
    "tools.name",
    "type",
    "verdict",
];

const OF_REASONING: [&str; 10] = [
    "changes.change",
    "changes.path",
    "limit.kind",
    "name",
    "next",
    "plan.status",
    "plan.sub_steps.status",
    "reason",
    "refused",
    "type",
];

const OF_SOLVING: [&str; 10] = [
    "limit",
    "limit.kind",
    "reason",
    "stage",
    "stages.name",
    "stages.next",
    "start",
    "status",
    "strategy",
    "type",
];

const OF_TOOLS: [&str; 3] = ["id", "name", "type"];

/// The names in the reports of a program, whose other fields may contain anything.
const OF_OTHERS: [&str; 1] = ["type"];

/// The field of a report in its event.
const REPORT: &str = "report";

/// The names in one event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    of_report: &'static [&'static str],
}

impl Names {
    pub(super) fn of(event: &Value) -> Self {
        let source = event.get("source").and_then(Value::as_str);

        Self {
            of_report: match source {
                Some("chat") => &OF_CHAT,
                Some("reasoning") => &OF_REASONING,
                Some("solving") => &OF_SOLVING,
                Some("tool") => &OF_TOOLS,
                _ => &OF_OTHERS,
            },
        }
    }

    /// Returns whether the reports of this source have fixed fields. Those of programs may have
    /// content in the names of their fields, too.
    pub(super) fn has_fixed_fields(self) -> bool {
        self.of_report.len() > OF_OTHERS.len()
    }

    /// Returns whether the texts of a field are names. `is_of_names` is for the ends of a change of a
    /// plan.
    pub(super) fn contain(self, field: &Field, is_of_names: bool) -> bool {
        let path = field.0.as_str();
        let Some(path) = path.strip_prefix(REPORT) else {
            return OF_EVENTS.contains(&path);
        };

        let path = path.trim_start_matches('.');
        let is_end = matches!(path, "changes.from" | "changes.to");
        self.of_report.contains(&path) || (is_end && is_of_names)
    }
}

/// Returns whether a change of a plan is from a name to another: a status, or a place.
pub(super) fn is_change_of_names(change: &Map<String, Value>) -> bool {
    let kind = change.get("change").and_then(Value::as_str);
    matches!(kind, Some("status_changed" | "moved"))
}

/// The length at which a path isn't continued, in bytes. The paths of names are shorter.
const LONGEST: usize = 100;

/// The path of a field in an event, such as `report.tool_calls.name`.
#[derive(Debug, Clone, Default)]
pub(super) struct Field(String);

impl Field {
    pub(super) fn inner(&self, name: &str) -> Self {
        if self.0.is_empty() {
            return Self(name.to_owned());
        }

        // Steps may have sub-steps at any depth.
        let is_nested = matches!(name, "sub_steps" | "also") && self.0.ends_with(name);
        if is_nested || self.0.len() > LONGEST {
            return self.clone();
        }

        Self(format!("{}.{name}", self.0))
    }

    /// Returns whether this is the report in an event, or a field inside it.
    pub(super) fn is_in_report(&self) -> bool {
        let rest = self.0.strip_prefix(REPORT);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}
