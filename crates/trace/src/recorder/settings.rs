use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use cogwork_llm::layers::Prices;
use serde_json::{Number, Value};

use crate::LeftOut;

/// The maximum length of a text, in bytes.
const MAX_TEXT: usize = 256 * 1024;

/// The fields of an event and its report that are recorded without content: what happened when and
/// where, and what it cost. All others may have texts of users, models and programs.
const WITHOUT_CONTENT: [&str; 28] = [
    "at",
    "step",
    "type",
    "source",
    "report", // all events
    "run",
    "flow",
    "started",
    "graph",
    "prices",
    "forked_from",
    "left_out", // the first one
    "phase",
    "action",
    "to",
    "attempts",
    "delay",
    "steps", // steps
    "call",
    "model",
    "took",
    "usage",
    "cost",
    "finish",
    "verdict", // calls
    "count",
    "limit",
    "bytes", // what was left out
];

/// The settings of a [`RunRecorder`](crate::RunRecorder).
///
/// ```
/// use cogwork_llm::layers::{Price, Prices};
/// use cogwork_trace::RecorderSettings;
///
/// let settings = RecorderSettings::default()
///     .with_prices(Prices::new().with_model("small", Price::per_million(1.0, 4.0)))
///     .with_secrets(|text| text.replace("hunter2", "[the password]"));
/// ```
#[derive(Clone)]
pub struct RecorderSettings {
    pub(crate) prices: Prices,
    pub(crate) input: Option<String>,
    secrets: Option<Arc<Hide>>,
    pub(crate) left_out: Option<LeftOut>,
}

/// Hides secrets in a text.
type Hide = dyn Fn(&str) -> String + Send + Sync;

impl Default for RecorderSettings {
    fn default() -> Self {
        Self {
            prices: Prices::common(),
            input: None,
            secrets: None,
            left_out: None,
        }
    }
}

impl RecorderSettings {
    /// Sets what tokens cost. Nothing is recorded for a model that isn't in the table. The default is
    /// [`Prices::common`].
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Sets a function that hides secrets, such as [`Mask::hide`](cogwork_text::Mask::hide). It is
    /// applied to each text and number, and also to names, including those of the run, of steps and of
    /// fields. Nothing is hidden by default.
    #[must_use]
    pub fn with_secrets(mut self, hide: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.secrets = Some(Arc::new(hide));
        self
    }

    /// Leaves out all texts: only steps, actions, times, tokens and costs are recorded. The journal still
    /// has the outcomes of all steps, without which the run could not be resumed. To keep the texts and
    /// change them, use [`with_secrets`](Self::with_secrets).
    #[must_use]
    pub fn without_content(mut self) -> Self {
        self.left_out = self.left_out.max(Some(LeftOut::Content));
        self
    }

    /// Leaves out all events but the header. There is no page of such a run.
    #[must_use]
    pub fn without_events(mut self) -> Self {
        self.left_out = Some(LeftOut::Events);
        self
    }

    /// Sets the input of the run, as its page shows it. The loop reports its problem itself. None by
    /// default.
    #[must_use]
    pub fn with_input(mut self, input: impl Into<String>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Returns an event as it is recorded.
    pub(crate) fn event(&self, mut event: Value) -> Value {
        // First, so that texts that aren't kept needn't be searched for secrets.
        if self.left_out.is_some() {
            remove_content(&mut event);
        }
        self.recorded(event)
    }

    /// Returns a value without secrets, and with long texts cut.
    fn recorded(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Number(number) => self.number(number),
            Value::Array(items) => items.into_iter().map(|item| self.recorded(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter();
                fields
                    .map(|(name, value)| (self.hide(&name).into_owned(), self.recorded(value)))
                    .collect()
            }
            other => other,
        }
    }

    fn text(&self, text: &str) -> String {
        // Before the text is cut, because the cut may be in the middle of a secret.
        let text = self.hide(text);
        if text.len() <= MAX_TEXT {
            return text.into_owned();
        }

        let ends = (0..=MAX_TEXT).rev();
        let end = ends.into_iter().find(|end| text.is_char_boundary(*end));
        let beginning = text.get(..end.unwrap_or_default()).unwrap_or_default();
        format!("{beginning}… (cut: {} bytes)", text.len())
    }

    fn number(&self, number: Number) -> Value {
        let text = number.to_string();
        // A secret may be a number, such as a PIN.
        let hidden = self.hide(&text);
        if *hidden == *text {
            Value::Number(number)
        } else {
            Value::String(hidden.into_owned())
        }
    }

    fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.secrets {
            Some(hide) => Cow::Owned(hide(text)),
            None => Cow::Borrowed(text),
        }
    }
}

fn remove_content(event: &mut Value) {
    let Value::Object(fields) = event else {
        return;
    };

    // A list of what stays, so that a new field isn't shown by mistake.
    fields.retain(|name, _| WITHOUT_CONTENT.contains(&name.as_str()));
    // The fields of a report are chosen by the same list.
    if let Some(report) = fields.get_mut("report") {
        remove_content(report);
    }
}

impl fmt::Debug for RecorderSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecorderSettings")
            .field("prices", &self.prices)
            .field("input", &self.input)
            .finish_non_exhaustive()
    }
}
