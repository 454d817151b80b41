use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use cogwork_llm::layers::Prices;

use crate::{Content, ForkedFrom};

/// A rule that is applied to each text.
pub(crate) type Rule = dyn Fn(&str) -> Cow<'_, str> + Send + Sync;

/// Hides secrets in a text.
pub(crate) type Hide = dyn Fn(&str) -> String + Send + Sync;

/// The settings of a [`RunRecorder`](crate::RunRecorder).
///
/// ```
/// use std::borrow::Cow;
///
/// use cogwork_llm::layers::{Price, Prices};
/// use cogwork_trace::RecorderSettings;
///
/// let settings = RecorderSettings::default()
///     .with_prices(Prices::new().with_model("small", Price::per_million(1.0, 4.0)))
///     .with_max_text(16 * 1024)
///     .with_redaction(|text| match text.contains('@') {
///         true => Cow::Borrowed("[redacted]"),
///         false => Cow::Borrowed(text),
///     });
/// ```
#[derive(Clone)]
pub struct RecorderSettings {
    pub(crate) prices: Prices,
    pub(crate) content: Content,
    pub(crate) rules: Vec<Arc<Rule>>,
    pub(crate) secrets: Vec<Arc<Hide>>,
    pub(crate) max_text: usize,
    pub(crate) max_event: usize,
    pub(crate) max_record: u64,
    pub(crate) input: Option<String>,
    pub(crate) forked_from: Option<ForkedFrom>,
}

impl Default for RecorderSettings {
    fn default() -> Self {
        Self {
            prices: Prices::common(),
            content: Content::Full,
            rules: Vec::new(),
            secrets: Vec::new(),
            max_text: 256 * 1024,
            max_event: 4 * 1024 * 1024,
            max_record: 256 * 1024 * 1024,
            input: None,
            forked_from: None,
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

    /// Leaves out all texts: what was said, planned and noted, and errors. Names of nodes, tools,
    /// stages and models, times, tokens and costs are recorded. Of the reports of a program, only the
    /// type is. By default, texts are recorded.
    #[must_use]
    pub fn without_content(mut self) -> Self {
        self.content = Content::None;
        self
    }

    /// Adds a rule that is applied to each text, and whose result is recorded instead. Names of
    /// nodes, actions and tools aren't texts. In the reports of a program, the rule is also applied to
    /// the names of fields and to numbers. None by default.
    #[must_use]
    pub fn with_redaction(
        mut self,
        rule: impl Fn(&str) -> Cow<'_, str> + Send + Sync + 'static,
    ) -> Self {
        self.rules.push(Arc::new(rule));
        self
    }

    /// Adds a function that hides secrets, such as [`Mask::hide`](cogwork_text::Mask::hide). It is
    /// applied to each text before the rules, and also to names, including those of the run, of steps
    /// and of fields. None by default.
    #[must_use]
    pub fn with_secrets(mut self, hide: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.secrets.push(Arc::new(hide));
        self
    }

    /// Sets the maximum number of bytes of a text. Longer ones are cut. The default is 256 KiB.
    #[must_use]
    pub fn with_max_text(mut self, bytes: usize) -> Self {
        self.max_text = bytes;
        self
    }

    /// Sets the maximum number of bytes of an event. Of a larger one, only the type is recorded. The
    /// default is 4 MiB.
    #[must_use]
    pub fn with_max_event(mut self, bytes: usize) -> Self {
        self.max_event = bytes;
        self
    }

    /// Sets the maximum number of bytes that are recorded until the run ends or stops. Once it is
    /// reached, nothing more is recorded. The default is 256 MiB.
    #[must_use]
    pub fn with_max_record(mut self, bytes: u64) -> Self {
        self.max_record = bytes;
        self
    }

    /// Sets the input of the run, as its page shows it. The loop and the strategies report their problem
    /// themselves. None by default.
    #[must_use]
    pub fn with_input(mut self, input: impl Into<String>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// Sets the run that the recorded one was forked from. None by default.
    #[must_use]
    pub fn with_forked_from(mut self, origin: ForkedFrom) -> Self {
        self.forked_from = Some(origin);
        self
    }

    /// Returns how much of the texts is recorded.
    pub(crate) fn content(&self) -> Content {
        match self.content {
            Content::Full if !self.rules.is_empty() => Content::Redacted,
            content => content,
        }
    }
}

impl fmt::Debug for RecorderSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecorderSettings")
            .field("content", &self.content())
            .field("max_text", &self.max_text)
            .field("max_event", &self.max_event)
            .field("max_record", &self.max_record)
            .finish_non_exhaustive()
    }
}
