//! One turn of the loop: `prep` builds the question, `exec` asks the model until a reply can be
//! used, and `post` adds the thought to the state.

use std::collections::BTreeMap;

use cogwork_flow::engine::Operation;
use cogwork_flow::{Action, Node};
use cogwork_llm::{ChatRequest, Messages, ToolChoice};
use cogwork_plan::{Plan, Status};
use cogwork_typed::ask::{Asking, Format, Meter, Reserve, Unanswered};
use serde::{Deserialize, Serialize};

use crate::chain_of_thought::Calling;
use crate::error::Kind;
use crate::open_steps::open_steps;
use crate::replies::Replies;
use crate::reply::fits;
use crate::{ChainOfThought, CotError, CutShort, Read, Reasoning, ReasoningEvent, Thought, Trace};
use cogwork_typed::ask::Limit;

/// The input of `exec` for one turn: what was read from the state.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The node with the settings of the run.
    pub(crate) node: ChainOfThought,
    pub(crate) thought_number: u32,
    task: Task,
    /// The conversations that request replies in JSON and in YAML, if they may be requested.
    conversations: BTreeMap<bool, Messages>,
    /// The forms in which the reply may be requested, tightest first. They do not depend on what
    /// the server has refused so far, because a replay must prepare the same turn again.
    formats: Vec<Format>,
    /// The last plan.
    pub(crate) plan: Option<Plan>,
    /// The cost of all attempts at this turn.
    pub(crate) meter: Meter,
    /// What is kept for the last turn, if the model is asked to conclude.
    reserve: Option<Reserve>,
}

/// What is done in a turn.
#[derive(Debug, Clone, Copy)]
enum Task {
    /// The model makes the next thought.
    Think,
    /// The model is asked to conclude, because nothing of this limit will be left afterwards.
    Conclude(Limit),
    /// The limit allows no further call.
    Stop(Limit),
}

/// What the next reply should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// The next thought, or tool calls before it.
    ThoughtOrCalls,
    /// The next thought, without tool calls.
    Thought,
    /// The conclusion.
    Conclusion,
}

/// The output of `exec`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TurnOutcome {
    /// `None` if a limit ended the reasoning without a conclusion.
    thought: Option<Thought>,
    /// How a limit ended the reasoning, if one did.
    cut_short: Option<CutShort>,
}

impl Node<Reasoning> for ChainOfThought {
    type Prep = Option<Turn>;
    type Exec = Option<TurnOutcome>;
    type Error = CotError;

    fn actions(&self) -> Vec<Action> {
        vec![Self::CONTINUE, Self::END]
    }

    fn is_composite(&self) -> bool {
        !self.tools.is_empty()
    }

    fn operation(&self) -> Operation {
        Operation::Plan
    }

    fn prep(&self, state: &mut Reasoning) -> Result<Option<Turn>, CotError> {
        if state.solution().is_some() {
            return Ok(None);
        }

        let node = Self {
            // The limits of a run hold for one state, while the node may be shared by many.
            limits: state.limits.or(self.limits),
            ..self.clone()
        };
        let thought_number = state.begin_thought();
        // A resumed run begins with a later thought.
        if thought_number == 1 {
            node.emit(|| ReasoningEvent::Started {
                problem: state.problem().to_owned(),
            });
        }

        let turn = Turn::new(node, state);
        turn.map(Some)
            .map_err(|kind| CotError::new(thought_number, kind, Trace::default()))
    }

    async fn exec(&self, turn: &Option<Turn>) -> Result<Option<TurnOutcome>, CotError> {
        let Some(turn) = turn else { return Ok(None) };

        // Ends with the attempt, even if a timeout drops it.
        let _running = turn.meter.run();
        // An earlier attempt may have given it up for a conclusion.
        turn.meter.keep(turn.reserve);

        let mut replies = Replies::new(turn);
        let limit = match turn.task {
            Task::Conclude(limit) | Task::Stop(limit) => limit,
            Task::Think => match turn.ask(&mut replies).await {
                Ok(read) => return Ok(Some(turn.outcome(read, replies, None))),
                Err(Kind::Limit(limit)) if turn.node.limits.concludes() => limit,
                Err(kind) => return Err(turn.error(kind, replies)),
            },
        };

        turn.conclude(replies, limit).await.map(Some)
    }

    fn post(
        &self,
        state: &mut Reasoning,
        turn: Option<Turn>,
        outcome: Option<TurnOutcome>,
    ) -> Result<Action, CotError> {
        let (Some(turn), Some(outcome)) = (turn, outcome) else {
            return Ok(Self::END);
        };

        if let Some(thought) = outcome.thought {
            // Before the thought is added, since it shows what changes in the plan.
            turn.node.emit(|| ReasoningEvent::thought(&thought, state));
            state.push(thought);
        }
        if let Some(cut_short) = outcome.cut_short {
            state.end_at_limit(cut_short);
        }

        if state.solution().is_none() {
            return Ok(Self::CONTINUE);
        }
        turn.node.tell(&ReasoningEvent::ended(state, None));
        Ok(Self::END)
    }
}

impl Turn {
    fn new(node: ChainOfThought, state: &Reasoning) -> Result<Self, Kind> {
        node.check(state)?;

        let reserve = node.reserve(state);
        let task = node.task(state, reserve)?;

        let meter = Meter::new(node.limits, state.spent());
        meter.keep(reserve);
        let last = state.thoughts().last();
        // The conversation only grows, so that the next prompt is at least as long.
        meter.expect_prompt(last.map_or(0, |last| last.trace.read_tokens()));

        let formats = node.formats();
        let conversations = formats.iter().map(|format| {
            let conversation = node.conversation(state, *format);
            (format.is_json(), conversation)
        });
        let conversations = conversations.collect();
        let mut turn = Self {
            thought_number: state.current_thought_number(),
            task,
            conversations,
            formats: Vec::new(),
            plan: state.plan().cloned(),
            meter,
            reserve,
            node,
        };

        // A server would cut the plan off to what the schema allows, without a word.
        turn.formats = formats
            .into_iter()
            .filter(|format| turn.fits(*format))
            .collect();
        Ok(turn)
    }

    /// Returns whether a reply in this format can repeat the whole plan within the tokens of the
    /// first call.
    fn fits(&self, format: Format) -> bool {
        let request = self.request(format, Goal::ThoughtOrCalls);
        // If the call cannot be made, the model is asked to conclude instead.
        let request = self.meter.fit(request, 1);
        let request = request.unwrap_or_else(|_| self.node.request.clone());

        self.plan
            .as_ref()
            .is_none_or(|plan| fits(plan, format, &request))
    }

    /// Returns the request for a reply in this format, but doesn't ask the server for it.
    pub(crate) fn request(&self, format: Format, goal: Goal) -> ChatRequest {
        let mut conversation = self
            .conversations
            .get(&format.is_json())
            .cloned()
            .unwrap_or_default();
        if goal == Goal::Conclusion {
            self.node.prompts.conclude(&mut conversation, format);
        }

        let request = self.node.request.clone().with_messages(conversation);
        // Tools that are described in the system message needn't be sent.
        if self.node.calling() != Calling::Natively {
            return request;
        }

        let request = request.with_tools(self.node.tools.definitions());
        match goal {
            Goal::ThoughtOrCalls => request,
            // The tools stay in the request, because servers refuse earlier calls of tools that
            // they aren't told.
            Goal::Thought | Goal::Conclusion => request.with_tool_choice(ToolChoice::None),
        }
    }

    /// Asks the model until a reply can be used.
    async fn ask(&self, replies: &mut Replies<'_>) -> Result<Read, Kind> {
        let node = &self.node;

        // This and the replies outlive the future, which may time out, so no reply is lost.
        let mut asking = Asking::new(&*node.client, &node.refused, self.formats.clone())
            .with_meter(&self.meter)
            .with_asks_again(node.asks_again);

        let working = node.working(self.thought_number);
        let asked = self.meter.limit(asking.run(replies)).await;
        // The reporter shows no progress while the reply is added.
        drop(working);

        replies.add(asking.into_log());
        let kind = match asked {
            Ok(Ok(read)) => return Ok(read),
            Ok(Err(Unanswered::Client(error))) => Kind::Client(error),
            Ok(Err(Unanswered::Unusable(problem))) => Kind::Reply(problem),
            Ok(Err(Unanswered::Stopped(kind))) => kind,
            Err(limit) => Kind::Limit(limit),
        };

        // A reply that could have been used is worth more than an error.
        replies.take_fallback().ok_or(kind)
    }

    /// Asks the model to conclude because of a limit.
    async fn conclude(
        &self,
        mut replies: Replies<'_>,
        limit: Limit,
    ) -> Result<TurnOutcome, CotError> {
        let asked = match self.task {
            Task::Stop(_) => Err(Kind::Limit(limit)),
            Task::Think | Task::Conclude(_) => {
                let thought = self.thought_number;
                self.node
                    .emit(|| ReasoningEvent::Concluding { thought, limit });

                replies.conclude();
                self.meter.keep(None);
                self.ask(&mut replies).await
            }
        };

        let mut read = match asked {
            Ok(read) => read,
            Err(kind) => return self.unfinished(kind, replies, limit),
        };

        // It is accepted whatever it says about further thoughts, since none can follow.
        let is_final = !std::mem::take(&mut read.reply.next_thought_needed);
        let is_complete =
            is_final && self.has_only_conclusion_left() && open_steps(&read.reply).is_empty();

        Ok(self.outcome(read, replies, (!is_complete).then_some(limit)))
    }

    /// Returns whether every step of the plan but the conclusion is done.
    fn has_only_conclusion_left(&self) -> bool {
        let steps = self.plan.as_ref().map_or(&[][..], Plan::steps);
        let Some((conclusion, others)) = steps.split_last() else {
            return false;
        };

        conclusion.sub_steps.is_empty() && others.iter().all(|step| step.status == Status::Done)
    }

    /// Ends the reasoning with the last thought. If there is none, this is an error.
    fn unfinished(
        &self,
        kind: Kind,
        replies: Replies<'_>,
        limit: Limit,
    ) -> Result<TurnOutcome, CotError> {
        // A limit that interrupts the conclusion is the one that it was asked for.
        let kind = match kind {
            Kind::Limit(_) => Kind::Limit(limit),
            kind => kind,
        };
        let error = self.error(kind, replies);
        // Without a thought, nothing can be the answer.
        if self.plan.is_none() {
            return Err(error);
        }

        let problem = error.to_string();
        Ok(TurnOutcome {
            thought: None,
            cut_short: Some(CutShort::unfinished(limit, problem, error.into_trace())),
        })
    }

    fn error(&self, kind: Kind, replies: Replies<'_>) -> CotError {
        CotError::new(self.thought_number, kind, replies.into_trace())
    }

    /// Returns the outcome of a turn with a thought. `limit` is the one that ends the reasoning.
    fn outcome(&self, read: Read, replies: Replies<'_>, limit: Option<Limit>) -> TurnOutcome {
        let is_final = !read.reply.next_thought_needed;
        let trace = Trace {
            ended_early: is_final && !open_steps(&read.reply).is_empty(),
            repairs: read.repairs,
            ..replies.into_trace()
        };

        TurnOutcome {
            thought: Some(Thought::new(self.thought_number, read.reply, trace)),
            cut_short: limit.map(CutShort::concluded),
        }
    }
}

impl ChainOfThought {
    fn check(&self, state: &Reasoning) -> Result<(), Kind> {
        self.prompts.check().map_err(Kind::Prompts)?;
        if state.problem().trim().is_empty() {
            return Err(Kind::EmptyProblem);
        }
        self.tools.ready().map_err(Kind::NotReady)
    }

    /// Returns what is kept for the last turn, if the model is asked to conclude.
    fn reserve(&self, state: &Reasoning) -> Option<Reserve> {
        let newest = state.thoughts().iter().rev().map(|thought| &thought.trace);
        let newest = newest.map(|trace| (trace.written_tokens(), trace.spent.time));

        let limits = &self.limits;
        limits.concludes().then(|| limits.reserve(newest))
    }

    fn task(&self, state: &Reasoning, reserve: Option<Reserve>) -> Result<Task, Kind> {
        let limits = &self.limits;
        let mut spent = state.spent();
        let made = state.thoughts().len();

        let reached = limits.reached(&spent, made);
        if let Some(limit) = reached.or_else(|| limits.reached_by_calls(&spent)) {
            return match reserve {
                Some(_) if made > 0 => Ok(Task::Stop(limit)),
                _ => Err(Kind::Limit(limit)),
            };
        }

        let Some(reserve) = reserve else {
            return Ok(Task::Think);
        };

        // A turn takes about as long as what is kept for the last one.
        spent.calls = spent.calls.saturating_add(1);
        spent.time = spent.time.saturating_add(reserve.time.saturating_mul(2));

        let reached = limits.reached(&spent, made + 1);
        let reached = reached.or_else(|| limits.reached_by_calls(&spent));
        Ok(reached.map_or(Task::Think, Task::Conclude))
    }

    /// Returns the forms in which a reply may be requested, tightest first.
    fn formats(&self) -> Vec<Format> {
        let has_own_format = self.request.format().is_some();
        let has_json_prompts = self.prompts.json.is_some();

        // A program that sets a format for all requests reads the replies in it.
        if has_own_format || !has_json_prompts {
            return vec![Format::Text];
        }

        Format::from_first(self.format, self.client.capabilities())
    }

    fn conversation(&self, state: &Reasoning, format: Format) -> Messages {
        let prompts = &self.prompts;
        let instructions = match self.calling() {
            Calling::Never => String::new(),
            Calling::Natively => prompts.fill(&prompts.tools.native, format, &[]),
            Calling::InReplies => prompts.tools_in_reply(format, self.tools.definitions()),
        };

        prompts.conversation(state, self.history, format, &instructions)
    }
}
