use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A person's answer to a tool call that needs approval.
///
/// It is also read from `true` and `false`.
///
/// ```
/// use cogwork_tools::ToolApproval;
///
/// let refused = ToolApproval::refused().with_reason("too expensive");
/// assert_eq!(serde_json::to_string(&refused)?, r#"{"approved":false,"reason":"too expensive"}"#);
/// assert_eq!(refused.refusal().as_deref(), Some("refused by a person: too expensive"));
///
/// assert_eq!(serde_json::from_str::<ToolApproval>("true")?, ToolApproval::approved());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Answer")]
pub struct ToolApproval {
    approved: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl ToolApproval {
    /// Creates an answer that permits the call.
    pub fn approved() -> Self {
        Self {
            approved: true,
            reason: None,
        }
    }

    /// Creates an answer that refuses the call.
    pub fn refused() -> Self {
        Self {
            approved: false,
            reason: None,
        }
    }

    /// Sets the reason, which the model reads if the call is refused. The default is none.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Returns the JSON Schema of answers. A form offers the first kind.
    pub fn schema() -> Value {
        let form = json!({
            "type": "object",
            "properties": {
                "approved": {"type": "boolean"},
                "reason": {"type": ["string", "null"]},
            },
            "required": ["approved"],
            "additionalProperties": false,
        });
        json!({"anyOf": [form, {"type": "boolean"}]})
    }

    /// Returns the message for the model, if the call is refused.
    pub fn refusal(&self) -> Option<String> {
        if self.approved {
            return None;
        }

        let refusal = "refused by a person";
        // A form sends an empty reason if the person wrote none.
        Some(match self.reason.as_deref().map(str::trim) {
            None | Some("") => refusal.to_owned(),
            Some(reason) => format!("{refusal}: {reason}"),
        })
    }
}

#[derive(Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected `true`, `false`, or an object with `approved` and optionally `reason`"
)]
enum Answer {
    Short(bool),
    Long {
        approved: bool,
        reason: Option<String>,
    },
}

impl From<Answer> for ToolApproval {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Short(approved) => Self {
                approved,
                reason: None,
            },
            Answer::Long { approved, reason } => Self { approved, reason },
        }
    }
}
