//! Asks for an answer: the requests, and what becomes of the replies.

use cogwork_flow::engine::CannotWait;
use cogwork_llm::{ChatRequest, ChatResponse, FinishReason, Message, Messages};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ask::{
    AskLog, Asking, Format, Limit, Meter, Policy, Repair, Spent, ToolCalls, Unanswered, Verdict,
};
use crate::growing::Beginning;
use crate::problem::{AnswerProblem, AnswerProblemKind as Kind};
use crate::{Answered, AskError, AskErrorKind, Model, ReadAnswer};

type OnGrowth<'a> = &'a mut (dyn FnMut(&Value) + Send);

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Model<T> {
    /// Asks for an answer to a text, a message with files, or a conversation.
    ///
    /// # Errors
    ///
    /// Returns an error if a call fails, if no reply can be used, or if a limit is reached.
    pub async fn ask(&self, prompt: impl Into<Messages>) -> Result<Answered<T>, AskError> {
        self.answer(prompt.into(), &self.meter(), None).await
    }

    /// Asks for an answer, and calls `on_growth` with what has arrived of the value whenever a
    /// streamed reply has grown.
    ///
    /// The value is as it is written: a key or a number may still be corrected when the reply is
    /// whole. A text grows with the reply, and any other value is added when it is complete. If the
    /// model starts over or is asked again, the value does so, too.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`ask`](Self::ask).
    pub async fn ask_streaming(
        &self,
        prompt: impl Into<Messages>,
        mut on_growth: impl FnMut(&Value) + Send,
    ) -> Result<Answered<T>, AskError> {
        let on_growth: OnGrowth<'_> = &mut on_growth;
        self.answer(prompt.into(), &self.meter(), Some(on_growth))
            .await
    }

    /// Returns the meter of an answer.
    pub(crate) fn meter(&self) -> Meter {
        Meter::new(self.settings.limits, Spent::default())
    }

    /// Asks for an answer. The meter includes the cost of earlier attempts.
    pub(crate) async fn answer<'a>(
        &'a self,
        prompt: Messages,
        meter: &'a Meter,
        on_growth: Option<OnGrowth<'a>>,
    ) -> Result<Answered<T>, AskError> {
        let mut answering = Answering {
            model: self,
            prompt,
            meter,
            rounds: 0,
            was_unread: false,
            needs_format: false,
            messages: Vec::new(),
            arrived: Beginning::default(),
            value: Value::Null,
            on_growth,
        };
        let settings = &self.settings;
        // A name that is misspelt in the settings would fail after the first reply otherwise.
        if let Err(error) = settings.tools.ready() {
            return Err(AskError::tools(error, AskLog::default()));
        }

        let capabilities = settings.client.capabilities();
        let formats = self.reader.formats(settings.format, capabilities);
        let mut asking = Asking::new(&*settings.client, &settings.refused, formats)
            .with_meter(meter)
            .with_asks_again(settings.asks_again);

        let asked = meter.limit(asking.run(&mut answering)).await;
        let log = AskLog {
            // With the attempts of a retry that failed.
            spent: meter.spent(),
            ..asking.into_log()
        };

        match asked {
            Ok(Ok(read)) => Ok(Answered {
                value: read.value,
                repairs: read.repairs,
                log,
                messages: answering.messages,
            }),
            Ok(Err(Unanswered::Client(error))) => Err(AskError::client(error, log)),
            Ok(Err(Unanswered::Unusable(problem))) => Err(AskError::unusable(problem, log)),
            Ok(Err(Unanswered::Stopped(Stop::CannotWait(error)))) => {
                let message = format!("a tool call needs a person's approval: {error}");
                Err(AskError::tools(message, log))
            }
            Ok(Err(Unanswered::Stopped(Stop::Limit(limit)))) | Err(limit) => {
                let message = format!("the limit of {limit} allows no further call");
                Err(AskError::of(AskErrorKind::Limit, message, log))
            }
        }
    }

    /// Reads a reply, and checks the value.
    async fn read(&self, response: &ChatResponse) -> Result<ReadAnswer<T>, AnswerProblem> {
        let read = self.reader.read(response.text());
        let is_whole = !self.reader.is_text() && ends_with_json(response.text());
        // The limit of tokens explains a value that cannot be read.
        if read.is_err() || !is_whole {
            check_end(response)?;
        }
        let ReadAnswer { mut value, repairs } = read?;

        for check in &self.checks {
            let (checked, result) = check(value).await;
            result.map_err(|message| AnswerProblem::new(Kind::Check, 0, message))?;
            value = checked;
        }

        Ok(ReadAnswer { value, repairs })
    }
}

/// The requests for an answer, and what becomes of the replies.
struct Answering<'a, T> {
    model: &'a Model<T>,
    prompt: Messages,
    meter: &'a Meter,
    /// The number of replies with tool calls.
    rounds: u32,
    /// Whether any reply couldn't be read.
    was_unread: bool,
    /// Whether the next request has a format instead of tools.
    needs_format: bool,
    /// What was added to the conversation.
    messages: Vec<Message>,
    /// What has arrived of the reply, and the value in it.
    arrived: Beginning,
    value: Value,
    on_growth: Option<OnGrowth<'a>>,
}

type Judged<T> = Verdict<ReadAnswer<T>, AnswerProblem, Stop>;

/// Why no further call is made.
enum Stop {
    Limit(Limit),
    CannotWait(CannotWait),
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Policy for Answering<'_, T> {
    type Reply = ReadAnswer<T>;
    type Problem = AnswerProblem;
    type Stop = Stop;

    fn request(&self, format: Format) -> ChatRequest {
        let settings = &self.model.settings;
        let has_rounds = self.rounds < settings.tool_rounds && !settings.tools.is_empty();
        let may_call = has_rounds && !self.needs_format;
        self.model.request(&self.prompt, format, may_call)
    }

    fn on_text(&mut self, text: &str) {
        let Some(on_growth) = &mut self.on_growth else {
            return;
        };
        let Some(arrived) = self.arrived.push(text) else {
            return;
        };

        let value = self.model.reader.growing(arrived).unwrap_or_default();
        if value != self.value {
            self.value = value;
            on_growth(&self.value);
        }
    }

    fn repairs<'r>(&self, read: &'r ReadAnswer<T>) -> &'r [Repair] {
        &read.repairs
    }

    async fn judge(&mut self, response: &ChatResponse, _: Format) -> Judged<T> {
        // The next reply begins anew.
        self.arrived = Beginning::default();
        self.value = Value::Null;

        let calls = response.tool_calls();
        if !calls.is_empty() && !self.model.settings.tools.is_empty() {
            return self.call_tools(response).await;
        }

        let model = self.model;
        match model.read(response).await {
            Ok(read) => {
                // Calls without tools to call are not part of the answer.
                self.messages.push(match calls {
                    [] => response.message(),
                    _ => Message::assistant(response.text()),
                });
                Verdict::Usable(read)
            }
            Err(problem) => {
                let is_unread = problem.kind() != Kind::Check;
                // Before its first call, a model may only say that it will make one.
                self.needs_format |= is_unread && (self.rounds > 0 || self.was_unread);
                self.was_unread |= is_unread;
                self.unusable(problem)
            }
        }
    }
}

impl<T: JsonSchema + DeserializeOwned + Send + 'static> Answering<'_, T> {
    async fn call_tools(&mut self, response: &ChatResponse) -> Judged<T> {
        let settings = &self.model.settings;
        // One more than allowed: that request forbids calls, which some models make all the same.
        if self.rounds > settings.tool_rounds {
            let message = format!(
                "the reply calls tools after {} rounds; expected the answer",
                settings.tool_rounds
            );
            return self.unusable(AnswerProblem::new(Kind::ToolCalls, 1, message));
        }

        self.rounds += 1;
        let calls = ToolCalls::new(&settings.tools, "the model");
        let made = match calls.make(response, self.rounds, self.meter).await {
            Ok(made) => made,
            Err(error) => return Verdict::Stop(Stop::CannotWait(error)),
        };
        let results = made.iter().zip(response.tool_calls());
        let results = results.map(|(used, call)| used.message(call));
        let messages: Vec<Message> = std::iter::once(response.message()).chain(results).collect();

        self.messages.extend(messages.iter().cloned());
        Verdict::Continue {
            problem: None,
            messages,
        }
    }

    /// Complains about a reply.
    fn unusable(&self, problem: AnswerProblem) -> Judged<T> {
        let ending = match self.model.reader.is_text() {
            true => "Write your answer again.",
            false => "Write the whole JSON object again, corrected.",
        };

        let message = format!("Your reply can't be used: {problem}. {ending}");
        Verdict::Unusable {
            problem,
            message: Message::user(message),
        }
    }
}

/// Returns whether a reply ends with the brackets of its value, so that nothing was cut off.
fn ends_with_json(text: &str) -> bool {
    text.trim_end_matches(|c: char| c.is_whitespace() || c == '`')
        .ends_with(['}', ']'])
}

/// Returns a problem if the end of a reply is missing.
fn check_end(response: &ChatResponse) -> Result<(), AnswerProblem> {
    let message = match response.finish_reason() {
        FinishReason::ContentFilter => {
            "the reply was withheld in part by a filter; expected a whole one"
        }
        FinishReason::Length => {
            "the reply was cut off at the limit of tokens; expected a shorter one"
        }
        _ => return Ok(()),
    };

    let line = response.text().lines().count().max(1);
    Err(AnswerProblem::new(Kind::CutOff, line, message))
}
