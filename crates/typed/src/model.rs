use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use cogwork_llm::{ChatRequest, LlmClient, Message, Messages, ToolChoice};
use cogwork_tools::Tools;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::AnswerReader;
use crate::ask::{Format, Limits, RefusedFormats};

/// A model whose answers are values of `T`.
///
/// The JSON Schema of `T` is sent to the server if it can enforce it, and described in the prompt.
/// A reply that doesn't match is asked for again, with the place and the reason. Clones share the
/// client, and the memory of what the server supports.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_typed::Model;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Invoice { vendor: String, total: f64 }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), cogwork_typed::AskError> {
/// let client = ScriptedClient::new(["{vendor: 'ACME', total: '120'}"]); // or `OpenAiClient`, …
/// let invoice = Model::<Invoice>::typed(client).ask("Read this invoice: ACME, 120 €.").await?;
///
/// assert_eq!((invoice.value.vendor.as_str(), invoice.value.total), ("ACME", 120.0));
/// assert_eq!(invoice.repairs.last().unwrap().to_string(), "line 1: `/total`: read the text \"120\" as a number");
/// # Ok(())
/// # }
/// ```
pub struct Model<T = String> {
    pub(crate) settings: Settings,
    pub(crate) reader: AnswerReader<T>,
    pub(crate) checks: Vec<Check<T>>,
}

/// What doesn't depend on the type of the answer.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) client: Arc<dyn LlmClient>,
    pub(crate) refused: RefusedFormats,
    pub(crate) format: Option<Format>,
    /// The settings of every request, without messages.
    request: ChatRequest,
    system: Option<Arc<str>>,
    pub(crate) asks_again: u32,
    pub(crate) limits: Limits,
    pub(crate) tools: Tools,
    pub(crate) tool_rounds: u32,
}

type Checking<T> = Pin<Box<dyn Future<Output = (T, Result<(), String>)> + Send>>;

/// A check of the program. Takes the value and returns it, since futures can't borrow it.
pub(crate) type Check<T> = Arc<dyn Fn(T) -> Checking<T> + Send + Sync>;

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Model<T> {
    /// Creates a model whose answers are values of `T`.
    pub fn typed(client: impl LlmClient + 'static) -> Self {
        Self::of(client, AnswerReader::new())
    }
}

impl Model<String> {
    /// Creates a model whose answers are texts, as the model writes them.
    pub fn text(client: impl LlmClient + 'static) -> Self {
        Self::of(client, AnswerReader::text())
    }
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Model<T> {
    fn of(client: impl LlmClient + 'static, reader: AnswerReader<T>) -> Self {
        Self {
            settings: Settings {
                client: Arc::new(client),
                refused: RefusedFormats::default(),
                format: None,
                request: ChatRequest::default(),
                system: None,
                asks_again: 2,
                limits: Limits::default(),
                tools: Tools::new(),
                tool_rounds: 8,
            },
            reader,
            checks: Vec::new(),
        }
    }

    /// Sets the instructions of the system message. None by default.
    #[must_use]
    pub fn with_system(mut self, text: impl Into<Arc<str>>) -> Self {
        self.settings.system = Some(text.into());
        self
    }

    /// Sets the settings of every request, such as the temperature and `max_tokens`. The
    /// conversation, format and tools of `request` are ignored.
    #[must_use]
    pub fn with_request(mut self, request: ChatRequest) -> Self {
        self.settings.request = request.with_messages(Messages::new());
        self
    }

    /// Sets the format in which replies are first requested. The default is the tightest one that the
    /// client supports.
    #[must_use]
    pub fn with_format(mut self, format: impl Into<Option<Format>>) -> Self {
        self.settings.format = format.into();
        self
    }

    /// Sets how often the model is asked again when a reply can't be used. The default is 2.
    #[must_use]
    pub fn with_asks_again(mut self, times: u32) -> Self {
        self.settings.asks_again = times;
        self
    }

    /// Adds a check for what the type can't express, such as a total that must add up. If it fails,
    /// its message is sent to the model, which is asked again.
    #[must_use]
    pub fn with_check(
        mut self,
        check: impl Fn(&T) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.checks.push(Arc::new(move |value| {
            let result = check(&value);
            Box::pin(async move { (value, result) })
        }));
        self
    }

    /// Adds a check that waits, for example for a database. See [`with_check`](Self::with_check).
    ///
    /// In a run with a journal, the check is made again when the run is resumed, so that its result
    /// must not change.
    #[must_use]
    pub fn with_async_check<F>(mut self, check: impl Fn(T) -> F + Send + Sync + 'static) -> Self
    where
        T: Clone,
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.checks.push(Arc::new(move |value: T| {
            let result = check(value.clone());
            Box::pin(async move { (value, result.await) })
        }));
        self
    }

    /// Sets the limits of all calls for an answer together. Unlimited by default.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Sets the tools that the model may call before it answers. None by default. While it may call
    /// them, the prompt alone describes the answer.
    #[must_use]
    pub fn with_tools(mut self, tools: Tools) -> Self {
        self.settings.tools = tools;
        self
    }

    /// Sets how many replies with tool calls are allowed before the answer. The default is 8.
    #[must_use]
    pub fn with_tool_rounds(mut self, rounds: u32) -> Self {
        self.settings.tool_rounds = rounds;
        self
    }

    /// Returns the request for a reply in this format, or for tool calls before it.
    pub(crate) fn request(&self, prompt: &Messages, format: Format, may_call: bool) -> ChatRequest {
        let Settings {
            request,
            system,
            tools,
            ..
        } = &self.settings;

        // No schema shows the structure while tools may be called.
        let shown = if tools.is_empty() {
            format
        } else {
            Format::Text
        };
        let system = system.iter().map(|text| Message::system(Arc::clone(text)));
        let mut messages: Messages = system.chain(prompt.iter().cloned()).collect();
        if !self.reader.is_text() {
            let instruction = self.reader.instruction("Answer with", shown);
            messages.add(Message::user(instruction));
        }

        let request = request.clone().with_messages(messages);
        let request = request.with_tools(tools.definitions());
        // Many servers refuse a format next to tools, or never call a tool then.
        if may_call {
            return request;
        }

        // The tools stay in the request, because the conversation may contain calls of them.
        let request = match tools.is_empty() {
            true => request,
            false => request.with_tool_choice(ToolChoice::None),
        };
        match self.reader.reply_format(format, None) {
            Some(format) => request.with_format(format),
            None => request,
        }
    }
}

impl<T> Clone for Model<T> {
    fn clone(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            reader: self.reader.clone(),
            checks: self.checks.clone(),
        }
    }
}
