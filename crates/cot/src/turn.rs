//! One turn of the loop: `prep` builds the request, `exec` asks the model until a reply can be
//! used, and `post` adds the thought to the state.

use cogwork_flow::{Action, Node, Operation};
use cogwork_llm::{ChatRequest, Messages};
use cogwork_typed::ask::{AskLog, Asking, Format, Meter, Reserve, Unanswered};
use serde::{Deserialize, Serialize};

use crate::brief::Task;
use crate::error::Kind;
use crate::form::Form;
use crate::judge::{Judge, Stop};
use crate::open_steps::OpenSteps;
use crate::tooling::Calling;
use crate::{
    Brief, ChainOfThought, CotError, CutShort, Limit, Partial, Read, Reasoning, ReasoningEvent,
    Reply, Spent, Thought, Trace,
};

/// The output of `exec`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Turn {
    /// `None` if a limit ended the reasoning without a conclusion.
    reply: Option<Reply>,
    trace: Trace,
    /// The limit that ended the reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<Limit>,
    /// Why there is no reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl Node<Reasoning> for ChainOfThought {
    type Prep = Option<Brief>;
    type Exec = Option<Turn>;
    type Error = CotError;

    fn actions(&self) -> Vec<Action> {
        vec![Self::CONTINUE, Self::END]
    }

    fn is_composite(&self) -> bool {
        self.tooling.has_tools()
    }

    fn operation(&self) -> Operation {
        Operation::Plan
    }

    fn prep(&self, state: &mut Reasoning) -> Result<Option<Brief>, CotError> {
        if state.solution().is_some() {
            return Ok(None);
        }

        let node = state.options.node(self);
        let thought_number = state.record.begin_thought();
        if thought_number == 1 {
            node.emit(|| ReasoningEvent::Started {
                problem: state.problem().to_owned(),
            });
        }

        let brief = node.check(state).map(|task| node.brief(state, task));
        let brief = brief.map_err(|kind| CotError::new(thought_number, kind))?;
        Ok(Some(brief))
    }

    async fn exec(&self, brief: &Option<Brief>) -> Result<Option<Turn>, CotError> {
        let Some(brief) = brief else { return Ok(None) };

        brief.turn().await.map(Some)
    }

    fn post(
        &self,
        state: &mut Reasoning,
        brief: Option<Brief>,
        turn: Option<Turn>,
    ) -> Result<Action, CotError> {
        let (Some(brief), Some(turn)) = (brief, turn) else {
            return Ok(Self::END);
        };

        let has_thought = turn.reply.is_some();
        turn.add_to(state);

        if has_thought {
            brief.node.emit_thought(state);
        }
        if let Some(reporter) = &brief.node.reporter {
            reporter.turn_ended(state);
        }

        match state.solution() {
            Some(_) => Ok(Self::END),
            None => Ok(Self::CONTINUE),
        }
    }
}

impl Turn {
    /// Adds the thought to the state, or ends the reasoning without one.
    fn add_to(self, state: &mut Reasoning) {
        match (self.reply, self.limit) {
            (Some(reply), limit) => {
                let number = state.current_thought_number();
                state.record.push(Thought::new(number, reply, self.trace));

                if let Some(limit) = limit {
                    state.record.end_at_limit(CutShort::concluded(limit));
                }
            }
            (None, Some(limit)) => {
                let problem = self.problem.unwrap_or_default();
                let end = CutShort::unfinished(limit, problem, self.trace);
                state.record.end_at_limit(end);
            }
            (None, None) => {}
        }
    }
}

impl Brief {
    /// Takes the turn: makes the next thought, or asks the model to conclude.
    async fn turn(&self) -> Result<Turn, CotError> {
        // Ends with the attempt, even if a timeout drops it.
        let _running = self.meter.run();
        self.meter.keep(self.reserve);

        let mut judge = Judge::new(self);
        let mut record = AskLog::default();

        let limit = match self.task {
            Task::Conclude(limit) | Task::Stop(limit) => limit,
            Task::Think => {
                let (asked, thinking) = self.ask(&mut judge).await;
                record = thinking;

                // If there already is a conclusion, it is used, even if the question about it
                // failed.
                match asked.or_else(|kind| judge.take_early_end().ok_or(kind)) {
                    Ok(read) => return Ok(turn(read, judge.trace(record))),
                    Err(Kind::Limit(limit)) if self.node.limits.concludes() => limit,
                    Err(kind) => return Err(self.error(kind, judge.trace(record))),
                }
            }
        };

        self.conclude(judge, record, limit).await
    }

    /// Asks the model to conclude because of a limit. `earlier` is the record of the turn so far.
    async fn conclude(
        &self,
        mut judge: Judge<'_>,
        earlier: AskLog,
        limit: Limit,
    ) -> Result<Turn, CotError> {
        let node = &self.node;
        judge.conclude();

        let (asked, record) = match self.task {
            Task::Stop(_) => (Err(Kind::Limit(limit)), AskLog::default()),
            _ => {
                let thought = self.thought_number;
                node.emit(|| ReasoningEvent::Concluding { thought, limit });
                self.ask(&mut judge).await
            }
        };

        let trace = judge.trace(record).after(earlier);
        match asked {
            Ok(read) => {
                let is_complete = self.has_only_conclusion_left()
                    && judge.is_final()
                    && OpenSteps::left_by(&read.reply).is_none();

                let mut turn = turn(read, trace);
                turn.limit = (!is_complete).then_some(limit);
                Ok(turn)
            }
            Err(kind) => self.unfinished(kind, trace, limit, judge.take_part()),
        }
    }

    /// Ends the reasoning without a whole conclusion: with the readable part of one, or with the
    /// last thought. If there is neither, this is an error.
    fn unfinished(
        &self,
        kind: Kind,
        mut trace: Trace,
        limit: Limit,
        part: Option<Partial>,
    ) -> Result<Turn, CotError> {
        if let Some(reply) = part.and_then(|part| self.readable_part(part)) {
            trace.truncated = true;
            trace.ended_early = true;
            return Ok(Turn {
                reply: Some(reply),
                trace,
                limit: Some(limit),
                problem: None,
            });
        }

        let kind = match kind {
            Kind::Limit(_) => Kind::Limit(limit),
            kind => kind,
        };
        let error = CotError::new(self.thought_number, kind).with_trace(trace);

        if self.plan.is_none() {
            return Err(error);
        }

        Ok(Turn {
            reply: None,
            problem: Some(error.to_string()),
            trace: error.into_trace(),
            limit: Some(limit),
        })
    }

    /// Returns the readable part of a conclusion that was cut off, with the last plan if the part
    /// has none.
    fn readable_part(&self, part: Partial) -> Option<Reply> {
        let thinking = part.current_thinking;
        let current_thinking = thinking.filter(|thinking| !thinking.trim().is_empty())?;

        let plan = Some(part.planning).filter(|plan| !plan.is_empty());
        let planning = plan.or_else(|| self.plan.clone())?;

        Some(Reply {
            current_thinking,
            planning,
            next_thought_needed: false,
        })
    }

    /// Asks the model until a reply can be used.
    async fn ask(&self, judge: &mut Judge<'_>) -> (Result<Read, Kind>, AskLog) {
        let node = &self.node;

        // This and the judge outlive the future, which may time out, so no reply is lost.
        let mut asking = Asking::new(&*node.client, &node.refused, self.formats.clone())
            .with_meter(&self.meter)
            .with_asks_again(node.asks_again)
            .with_streaming(node.streaming);

        let working = node.working(self.thought_number);
        let asked = self.meter.limit(asking.run(judge)).await;
        drop(working);

        let read = match asked {
            Ok(asked) => asked.map_err(kind),
            Err(limit) => Err(Kind::Limit(limit)),
        };

        (read, asking.into_log())
    }

    fn error(&self, kind: Kind, trace: Trace) -> CotError {
        CotError::new(self.thought_number, kind).with_trace(trace)
    }
}

impl ChainOfThought {
    /// Returns what to do in the turn.
    fn check(&self, state: &Reasoning) -> Result<Task, Kind> {
        if let Err(error) = self.prompts.check() {
            return Err(Kind::Prompts(error));
        }

        if state.problem().trim().is_empty() {
            return Err(Kind::EmptyProblem);
        }

        if let Err(error) = self.tooling.check() {
            return Err(Kind::UnknownTool(error));
        }

        if let Err(error) = self.tooling.tools.ready() {
            return Err(Kind::NotReady(error));
        }

        match self.task(state) {
            Task::Stop(limit) if !self.limits.concludes() || state.thoughts().is_empty() => {
                Err(Kind::Limit(limit))
            }
            task => Ok(task),
        }
    }

    fn task(&self, state: &Reasoning) -> Task {
        let spent = state.spent();
        let made = state.thoughts().len();
        if let Some(limit) = self.reached(&spent, made) {
            return Task::Stop(limit);
        }

        let Some(reserve) = self.reserve(state) else {
            return Task::Think;
        };

        // A turn takes about as long as what is kept for the last one.
        let mut after = spent;
        after.calls = after.calls.saturating_add(1);
        after.time = after.time.saturating_add(reserve.time.saturating_mul(2));

        match self.reached(&after, made + 1) {
            Some(limit) => Task::Conclude(limit),
            None => Task::Think,
        }
    }

    fn reached(&self, spent: &Spent, thoughts: usize) -> Option<Limit> {
        let limits = &self.limits;
        limits
            .reached(spent, thoughts)
            .or_else(|| limits.reached_by_calls(spent))
    }

    /// Returns what is kept for the last turn, if the model is asked to conclude.
    fn reserve(&self, state: &Reasoning) -> Option<Reserve> {
        let newest = state.thoughts().iter().rev().map(Thought::trace);
        let newest = newest.map(|trace| (trace.written_tokens(), trace.spent.time));

        let limits = &self.limits;
        limits.concludes().then(|| limits.reserve(newest))
    }

    fn brief(self, state: &mut Reasoning, task: Task) -> Brief {
        let reserve = self.reserve(state);
        let meter = Meter::new(self.limits, state.spent());
        meter.keep(reserve);
        let last = state.thoughts().last();
        meter.expect_prompt(last.map_or(0, |last| last.trace().read_tokens()));

        let formats = self.formats();
        let calling = self.tooling.calling(&*self.client);
        let forms = formats.iter().map(|format| Form::from(*format));
        let conversations = forms
            .map(|form| (form, self.conversation(state, form, calling)))
            .collect();

        let mut brief = Brief {
            thought_number: state.current_thought_number(),
            task,
            conversations,
            formats,
            calling,
            tools_in_reply: self.tools_in_reply(calling),
            plan: state.plan().cloned(),
            meter,
            reserve,
            node: self,
        };

        brief.formats = brief.fitting_formats();
        brief
    }

    /// Returns the forms in which the reply may be requested, tightest first. They do not depend on
    /// what the server has refused so far, because a replay must prepare the same turn again.
    fn formats(&self) -> Vec<Format> {
        let has_own_format = self.request.format().is_some();
        let has_json_prompts = self.prompts.json.is_some();

        if has_own_format || !has_json_prompts {
            return vec![Format::Text];
        }

        Format::from_first(self.format, self.client.capabilities())
    }

    /// Returns the names of the tools that the model may call in its reply.
    fn tools_in_reply(&self, calling: Calling) -> Vec<String> {
        match calling {
            Calling::InReplies => self.tooling.tools.names().map(str::to_owned).collect(),
            Calling::Never | Calling::Natively => Vec::new(),
        }
    }

    /// Returns the options of every request.
    pub(crate) fn request_options(&self, calling: Calling) -> ChatRequest {
        let request = self.request.clone();
        match calling {
            Calling::Natively => request.with_tools(self.tooling.tools.definitions()),
            Calling::Never | Calling::InReplies => request,
        }
    }

    fn conversation(&self, state: &mut Reasoning, form: Form, calling: Calling) -> Messages {
        let instructions = match calling {
            Calling::Never => String::new(),
            Calling::Natively => self.prompts.native_tools(form),
            Calling::InReplies => {
                let definitions = self.tooling.tools.definitions();
                self.prompts.tools_in_reply(form, definitions)
            }
        };

        let Reasoning {
            record, transcript, ..
        } = state;
        transcript.conversation(&self.prompts, record, self.history, form, &instructions)
    }
}

fn turn(read: Read, mut trace: Trace) -> Turn {
    trace.ended_early = OpenSteps::left_by(&read.reply).is_some();
    trace.repairs = read.repairs;
    trace.truncated = read.truncated;

    Turn {
        reply: Some(read.reply),
        trace,
        limit: None,
        problem: None,
    }
}

fn kind(unanswered: Unanswered<crate::ReplyProblem, Stop>) -> Kind {
    match unanswered {
        Unanswered::Client(error) => Kind::Client(error),
        Unanswered::Unusable(problem) => Kind::Reply(problem),
        Unanswered::Stopped(Stop::Limit(limit)) => Kind::Limit(limit),
        Unanswered::Stopped(Stop::CannotWait(error)) => Kind::CannotWait(error),
    }
}
