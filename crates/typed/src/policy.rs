//! The requests for an answer, and what becomes of the replies.

use crate::ask::{Limit, Meter, Policy, Repair, Rung, Verdict};
use cogwork_llm::{ChatRequest, ChatResponse, FinishReason, Message, Messages, ToolChoice};

use crate::calls::make_calls;
use crate::problem::{AnswerProblem, AnswerProblemKind as Kind};
use crate::{GrowingAnswer, Model, Prompt, ReadAnswer};

pub(crate) type OnGrowth<'a> = &'a mut (dyn FnMut(&GrowingAnswer) + Send);

pub(crate) struct Answering<'a, T> {
    model: &'a Model<T>,
    prompt: Messages,
    meter: &'a Meter,
    /// The number of replies with tool calls.
    rounds: u32,
    /// What was added to the conversation.
    messages: Vec<Message>,
    growing: GrowingAnswer,
    on_growth: Option<OnGrowth<'a>>,
}

impl<'a, T: Send + 'static> Answering<'a, T> {
    pub(crate) fn new(
        model: &'a Model<T>,
        prompt: Prompt,
        meter: &'a Meter,
        on_growth: Option<OnGrowth<'a>>,
    ) -> Self {
        Self {
            model,
            prompt: prompt.0,
            meter,
            rounds: 0,
            messages: Vec::new(),
            growing: GrowingAnswer::default(),
            on_growth,
        }
    }

    pub(crate) fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    fn complaint(&self, problem: &AnswerProblem) -> Message {
        let ending = if self.model.is_typed() {
            "Write the whole JSON object again, corrected."
        } else {
            "Write your answer again."
        };
        Message::user(format!("Your reply can't be used: {problem}. {ending}"))
    }

    async fn call_tools(
        &mut self,
        response: &ChatResponse,
    ) -> Verdict<ReadAnswer<T>, AnswerProblem> {
        if self.rounds > self.model.tool_rounds {
            let message = format!(
                "the reply calls tools after {} rounds; expected the answer",
                self.model.tool_rounds
            );
            let problem = AnswerProblem::new(Kind::ToolCalls, 1, message);
            let message = self.complaint(&problem);
            return Verdict::Unusable { problem, message };
        }

        self.rounds += 1;
        let results = make_calls(&self.model.tools, response, self.rounds, self.meter).await;
        let messages: Vec<Message> = std::iter::once(response.message()).chain(results).collect();

        self.messages.extend(messages.iter().cloned());
        Verdict::Continue { messages }
    }
}

impl<T: Send + 'static> Policy for Answering<'_, T> {
    type Reply = ReadAnswer<T>;
    type Problem = AnswerProblem;
    type Stop = Limit;

    fn request(&self, rung: Rung) -> ChatRequest {
        let request = self.model.request(&self.prompt, rung);
        let may_call = self.rounds < self.model.tool_rounds;

        if may_call || self.model.tools.is_empty() {
            request
        } else {
            request.with_tool_choice(ToolChoice::None)
        }
    }

    fn fit(&mut self, meter: &Meter, request: ChatRequest, _: Rung) -> Result<ChatRequest, Limit> {
        self.growing = GrowingAnswer::default();
        meter.fit(request, 1)
    }

    fn on_text(&mut self, text: &str) {
        let Some(on_growth) = &mut self.on_growth else {
            return;
        };
        let grown = &*self.model.answer.growing;
        if self.growing.push(text, grown) {
            on_growth(&self.growing);
        }
    }

    fn repairs<'r>(&self, read: &'r ReadAnswer<T>) -> &'r [Repair] {
        &read.repairs
    }

    async fn judge(
        &mut self,
        response: &ChatResponse,
        _: Rung,
    ) -> Verdict<ReadAnswer<T>, AnswerProblem> {
        if !response.tool_calls().is_empty() && !self.model.tools.is_empty() {
            return self.call_tools(response).await;
        }

        let model = self.model;
        match read(model, response).await {
            Ok(read) => {
                // Calls without tools to call are not part of the answer.
                let said = match response.tool_calls() {
                    [] => response.message(),
                    _ => Message::assistant(response.text()),
                };
                self.messages.push(said);
                Verdict::Usable(read)
            }
            Err(problem) => {
                let message = self.complaint(&problem);
                Verdict::Unusable { problem, message }
            }
        }
    }
}

async fn read<T: Send + 'static>(
    model: &Model<T>,
    response: &ChatResponse,
) -> Result<ReadAnswer<T>, AnswerProblem> {
    let read = (model.answer.read)(response.text())?;

    let is_cut = matches!(
        response.finish_reason(),
        FinishReason::Length | FinishReason::ContentFilter
    );
    if is_cut && !ends_with_json(response.text(), model.is_typed()) {
        return Err(cut_off(response));
    }

    checked(model, read).await
}

async fn checked<T>(model: &Model<T>, read: ReadAnswer<T>) -> Result<ReadAnswer<T>, AnswerProblem> {
    let ReadAnswer { mut value, repairs } = read;

    for check in &model.checks {
        let (checked, result) = check(value).await;
        result.map_err(|message| AnswerProblem::new(Kind::Check, 1, message))?;
        value = checked;
    }

    Ok(ReadAnswer { value, repairs })
}

/// Returns whether a reply ends with the brackets of its value, so that nothing was cut off.
fn ends_with_json(text: &str, is_typed: bool) -> bool {
    is_typed
        && text
            .trim_end_matches(|c: char| c.is_whitespace() || c == '`')
            .ends_with(['}', ']'])
}

fn cut_off(response: &ChatResponse) -> AnswerProblem {
    let line = response.text().lines().count().max(1);
    let reason = match response.finish_reason() {
        FinishReason::ContentFilter => "the reply was withheld in part by a filter",
        _ => "the reply was cut off at the limit of tokens",
    };
    AnswerProblem::new(
        Kind::CutOff,
        line,
        format!("{reason}; expected a whole one"),
    )
}
