use serde_json::{Map, Value};

/// An event that was recorded.
///
/// ```
/// use cogwork_trace::RecordedEvent;
///
/// let event = RecordedEvent::from_json(r#"{"step":"greet/hello#1","at":0.5,"type":"noted","text":"Hi"}"#)?;
/// assert_eq!(event.name, "noted");
/// assert_eq!(event.fields["text"], "Hi");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecordedEvent {
    /// The step, such as `greet/hello#1`; `None` for events of the whole run.
    pub step: Option<String>,
    /// The time since the start of the run, or since it was last resumed, in seconds.
    pub at: f64,
    /// The type, such as `step_entered`. Most correspond to an
    /// [`EventKind`](cogwork_flow::EventKind).
    pub name: String,
    /// The other fields, which depend on the type.
    pub fields: Map<String, Value>,
}

impl RecordedEvent {
    /// Reads an event from its JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if this isn't the JSON of an event.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        let mut fields: Map<String, Value> = serde_json::from_str(json)?;

        let step = fields.remove("step").map(serde_json::from_value);
        let at = fields.remove("at").map(serde_json::from_value);
        let Some(Value::String(name)) = fields.remove("type") else {
            let error = "the event has no `type`, such as \"step_entered\"";
            return Err(serde::de::Error::custom(error));
        };

        Ok(Self {
            step: step.transpose()?,
            at: at.transpose()?.unwrap_or_default(),
            name,
            fields,
        })
    }

    /// Returns the value that a node reported with this source, such as `chat` for calls to models.
    pub fn report_from(&self, source: &str) -> Option<&Value> {
        let is_from = self.fields.get("source")?.as_str() == Some(source);
        self.fields.get("report").filter(|_| is_from)
    }
}
