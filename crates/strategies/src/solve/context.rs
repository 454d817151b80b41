//! The context of a method: what was said and done so far, and the calls that it makes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use cogwork_llm::{Message, Messages};
use cogwork_plan::Plan;
use cogwork_text::{Name, NameList};
use cogwork_tools::Tools;
use cogwork_typed::ask::{Limit, Spent, no_answer};

use super::ask::{Question, add_message};
use super::calling::PlannedCall;
use super::method::Reason;
use super::shared::Shared;
use super::{
    Answer, Ask, AskProblem, Asked, Call, Called, EndReason, SolveError, Solving, StageReply, Stop,
};
use crate::{BranchId, Session, Stage, Strategy, Thought, ThoughtDraft, ThoughtId};

/// The context in which a [`Method`](super::Method) solves a problem.
///
/// It has the [session](Self::session) with the thoughts so far and the conversation with the model.
/// A method returns each [`Stop`] that it gets, with `?`.
pub struct Solve {
    shared: Arc<Shared>,
    problem: String,
    session: Session,
    /// The number of thoughts that the state has already.
    thoughts: usize,
    spent: Spent,
    conversation: Messages,
    /// The calls that were made, of which the method has read the first ones.
    calls: Vec<Call>,
    read: usize,
    /// The stage that the method is in.
    stage: String,
    best: Option<Answer>,
    is_guess: bool,
    plan: Option<Plan>,
    /// What must not repeat, by thought.
    progress: BTreeMap<ThoughtId, String>,
    open: Option<Batch>,
}

/// The calls that a method waits for.
pub(super) struct Batch {
    pub(super) stage: String,
    pub(super) work: Work,
}

pub(super) enum Work {
    Ask {
        questions: Vec<Question>,
        enough: Option<Enough>,
    },
    Call(Vec<PlannedCall>),
}

/// Returns whether the answers so far are enough. An unanswered question is `None`.
pub(super) type Enough = Box<dyn Fn(&[Option<Asked>]) -> bool + Send + Sync>;

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

/// Where a method has come to.
#[derive(Debug, Clone)]
pub(super) enum Advanced {
    /// It waits for calls.
    Waiting(Arc<Batch>),
    /// A limit doesn't allow the next thought.
    Over(Limit),
    Ended,
}

/// Works through the method with the calls that were made, and adds what follows from them to the
/// state.
pub(super) fn advance(shared: &Arc<Shared>, solving: &mut Solving) -> Result<Advanced, SolveError> {
    let mut cx = Solve::new(shared, solving);
    let result = shared.method.solve(&mut cx);
    let Solve { stage, open, .. } = &mut cx;
    let (stage, open) = (std::mem::take(stage), open.take());

    let calls = cx.calls.len();
    let read = cx.read;
    cx.keep_in(solving);

    if let Some(batch) = open {
        return Ok(Advanced::Waiting(Arc::new(batch)));
    }
    if read < calls {
        return Err(SolveError::method(CHANGED).at(&stage));
    }

    match result {
        Ok(answer) => {
            solving.best = Some(answer);
            solving.end = Some(EndReason::Answered);
        }
        Err(Stop(Reason::Limit(limit))) => return Ok(Advanced::Over(limit)),
        Err(Stop(Reason::Over(reason))) => solving.end = Some(reason),
        Err(Stop(Reason::Failed(error))) => return Err(error.at(&stage)),
        Err(Stop(Reason::Parked)) => {
            return Err(SolveError::method("the method stopped without a call").at(&stage));
        }
    }
    Ok(Advanced::Ended)
}

const CHANGED: &str =
    "the strategy makes other calls than those that were recorded; begin a new run";

impl Solve {
    fn new(shared: &Arc<Shared>, solving: &mut Solving) -> Self {
        let strategy = shared.strategy.clone();

        Self {
            conversation: shared.opening(&solving.problem).into_iter().collect(),
            problem: solving.problem.clone(),
            stage: strategy.start().name().to_owned(),
            session: Session::new(strategy),
            thoughts: solving.session.thoughts().len(),
            spent: solving.spent,
            calls: std::mem::take(&mut solving.calls),
            shared: Arc::clone(shared),
            read: 0,
            best: None,
            is_guess: false,
            plan: None,
            progress: BTreeMap::new(),
            open: None,
        }
    }

    fn keep_in(self, solving: &mut Solving) {
        solving.session = self.session;
        solving.calls = self.calls;
        solving.best = self.best;
        solving.is_guess = self.is_guess;
        solving.plan = self.plan;
    }

    /// Returns the problem.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// Returns the strategy.
    pub fn strategy(&self) -> &Strategy {
        &self.shared.strategy
    }

    /// Returns the stage with this name.
    ///
    /// # Errors
    ///
    /// Fails if the strategy doesn't have it.
    pub fn stage(&self, name: &str) -> Result<&Stage, Stop> {
        let strategy = &self.shared.strategy;
        strategy.stage(name).ok_or_else(|| {
            let stages: Vec<&str> = strategy.stages().iter().map(Stage::name).collect();
            Stop::fail(format!(
                "`{}` is not a stage of `{}`; expected {}",
                Name(name),
                strategy.name(),
                NameList::or(&stages)
            ))
        })
    }

    /// Returns the prompts of stages, as one text.
    ///
    /// # Errors
    ///
    /// Fails if the strategy doesn't have one of them.
    pub fn prompt(&self, stages: &[&str]) -> Result<String, Stop> {
        let prompts = stages.iter().map(|name| Ok(self.stage(name)?.prompt()));
        Ok(prompts.collect::<Result<Vec<_>, Stop>>()?.join(" "))
    }

    /// Returns the tools.
    pub fn tools(&self) -> &Tools {
        &self.shared.tools
    }

    /// Returns whether the client supports tools. Otherwise, the tools have to be described in the
    /// text for the model.
    pub fn native_tools(&self) -> bool {
        self.shared.questions.native_tools()
    }

    /// Returns the session with the thoughts.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the session mutably, to fork, score, merge and prune branches.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Adds a thought to the current branch.
    ///
    /// # Errors
    ///
    /// Fails if the strategy doesn't lead to this stage. Ends the run if the session is full.
    pub fn think(&mut self, stage: &str, text: impl Into<String>) -> Result<ThoughtId, Stop> {
        self.add(ThoughtDraft::at(stage, text))
    }

    /// Adds a thought with parameters to the current branch.
    ///
    /// # Errors
    ///
    /// Fails if the session refuses the thought. Ends the run if the session is full.
    pub fn add(&mut self, draft: ThoughtDraft) -> Result<ThoughtId, Stop> {
        self.add_on(self.session.current(), draft)
    }

    /// Adds a thought with parameters to a branch.
    ///
    /// # Errors
    ///
    /// Fails if the session refuses the thought. Ends the run if the session is full.
    pub fn add_on(&mut self, branch: BranchId, draft: ThoughtDraft) -> Result<ThoughtId, Stop> {
        if let Some(stage) = &draft.stage {
            self.stage.clone_from(stage);
        }

        let thoughts = self.session.thoughts().len();
        let limits = &self.shared.limits;
        if let Some(limit) = limits.reached(&self.spent, thoughts)
            && thoughts >= self.thoughts
        {
            return Err(Stop(Reason::Limit(limit)));
        }

        Ok(self.session.think_on(branch, draft)?)
    }

    /// Adds the problem as the first thought, in the stage in which the strategy starts.
    ///
    /// # Errors
    ///
    /// Fails if the session has thoughts already, or if the stage needs parameters.
    pub fn think_problem(&mut self) -> Result<ThoughtId, Stop> {
        let stage = self.strategy().start().name().to_owned();
        self.think(&stage, self.problem.clone())
    }

    /// Ends the run if the last thought and those before it on the branch repeat the same sequence
    /// three times. Only thoughts for which this was called are compared, by `what` they contribute.
    ///
    /// # Errors
    ///
    /// Ends the run with [`EndReason::NoProgress`].
    pub fn progress(&mut self, what: impl Into<String>) -> Result<(), Stop> {
        let branch = self.session.branch(self.session.current())?;
        if let Some(last) = branch.tip() {
            self.progress.insert(last, what.into());
        }

        if self.is_stuck() {
            return Err(Stop::from(EndReason::NoProgress {
                stage: self.stage.clone(),
                times: TIMES,
            }));
        }
        Ok(())
    }

    fn is_stuck(&self) -> bool {
        let times = usize::try_from(TIMES).unwrap_or(usize::MAX);
        // The last thought first.
        let path = self.path().take(LONGEST * times * 2).filter_map(|thought| {
            let what = self.progress.get(&thought.id())?;
            Some((thought.stage(), what))
        });
        let shown: Vec<_> = path.take(LONGEST * times).collect();

        (1..=LONGEST).any(|length| {
            let Some(newest) = shown.get(..length * times) else {
                return false;
            };
            let before = newest.iter().skip(length);
            newest
                .iter()
                .zip(before)
                .all(|(one, other)| one.0 == other.0 && is_same(one.1, other.1))
        })
    }

    /// Returns the thoughts from the last one of the current branch back to the first.
    pub fn path(&self) -> impl Iterator<Item = &Thought> {
        let branch = self.session.branch(self.session.current());
        self.session
            .path(branch.ok().and_then(|branch| branch.tip()))
    }

    /// Keeps an answer of the model. It is the result if the run ends early.
    pub fn keep(&mut self, answer: impl Into<Answer>) {
        self.best = Some(answer.into());
        self.is_guess = false;
    }

    /// Keeps a text as the best answer until the model gives one, unless the text
    /// [isn't an answer](no_answer). Before the run ends early, the model is still asked for one.
    pub fn keep_guess(&mut self, text: &str) {
        if no_answer(text, &self.problem).is_none() {
            self.best = Some(text.into());
            self.is_guess = true;
        }
    }

    /// Sets the plan that the result has.
    pub fn set_plan(&mut self, plan: Plan) {
        self.plan = Some(plan).filter(|plan| !plan.is_empty());
    }

    /// Adds a message to the conversation. Two consecutive plain user messages are merged into one,
    /// because some servers refuse consecutive messages with the same role.
    pub fn add_message(&mut self, message: Message) {
        add_message(&mut self.conversation, message);
    }

    /// Says something to the model, before the next question.
    pub fn say(&mut self, text: impl Into<String>) {
        self.add_message(Message::user(text.into()));
    }

    /// Asks the model at the end of the conversation, to which the question and the reply are added.
    ///
    /// # Errors
    ///
    /// Stops if there is no reply yet, or if a limit doesn't allow the call. The run fails if a call
    /// fails, or if no reply can be used.
    pub fn ask<T>(&mut self, stage: &str, ask: Ask<T>) -> Result<T, Stop> {
        let Ask { question, value } = ask;
        let known = self.known(stage, [question.name.as_str()])?;
        let Some(mut calls) = known else {
            return Err(self.park(stage, vec![question], None));
        };

        let Some(Call::Model(asked)) = calls.pop() else {
            return Err(Stop::fail(CHANGED));
        };
        let message = question.message(asked.format);
        let reply = asked.reply.as_ref().map_err(|_| Stop::fail(CHANGED))?;
        self.add_message(message);
        self.add_message(said(&asked, reply));
        value(reply).map_err(Stop::fail)
    }

    /// Asks the model several questions concurrently, each at the end of the conversation, which
    /// doesn't change. Returns the replies in order. At least one question has a reply.
    ///
    /// # Errors
    ///
    /// Stops if there are no replies yet, or if a limit doesn't allow the calls. The run fails if no
    /// question has a reply.
    pub fn ask_all<T>(
        &mut self,
        stage: &str,
        asks: Vec<Ask<T>>,
    ) -> Result<Vec<Result<T, AskProblem>>, Stop> {
        self.ask_until(stage, asks, None)
    }

    /// Asks the model several questions, until the replies so far are `enough`. The questions that
    /// aren't answered then are [not needed](AskProblem::NotNeeded).
    ///
    /// # Errors
    ///
    /// Stops in the same cases as [`ask_all`](Self::ask_all).
    pub fn ask_until_enough<T: 'static>(
        &mut self,
        stage: &str,
        asks: Vec<Ask<T>>,
        enough: impl Fn(&[Option<Result<T, AskProblem>>]) -> bool + Send + Sync + 'static,
    ) -> Result<Vec<Result<T, AskProblem>>, Stop> {
        let Some(value) = asks.first().map(|ask| ask.value) else {
            return Ok(Vec::new());
        };

        let enough = move |asked: &[Option<Asked>]| {
            let asked = asked.iter();
            let replies = asked.map(|asked| Some(converted(asked.as_ref()?, value)));
            enough(&replies.collect::<Vec<_>>())
        };
        self.ask_until(stage, asks, Some(Box::new(enough)))
    }

    fn ask_until<T>(
        &mut self,
        stage: &str,
        asks: Vec<Ask<T>>,
        enough: Option<Enough>,
    ) -> Result<Vec<Result<T, AskProblem>>, Stop> {
        let Some(value) = asks.first().map(|ask| ask.value) else {
            return Ok(Vec::new());
        };

        let names = asks.iter().map(|ask| ask.question.name.as_str());
        let Some(calls) = self.known(stage, names)? else {
            let questions = asks.into_iter().map(|ask| ask.question);
            return Err(self.park(stage, questions.collect(), enough));
        };

        let asked = calls.iter().filter_map(|call| match call {
            Call::Model(asked) => Some(converted(asked, value)),
            Call::Tool(_) => None,
        });
        Ok(asked.collect())
    }

    /// Calls tools, concurrently unless one needs the output of another. Returns the results in
    /// order.
    ///
    /// # Errors
    ///
    /// Stops if there are no results yet, or if the time of the limits is over.
    pub fn call_tools(
        &mut self,
        stage: &str,
        calls: Vec<PlannedCall>,
    ) -> Result<Vec<Called>, Stop> {
        let names = calls.iter().map(|call| call.id.as_str());
        let known = self.known(stage, names)?;
        if known.is_none() && !calls.is_empty() {
            return Err(self.park_at(stage, Work::Call(calls)));
        }

        let called = known.into_iter().flatten().filter_map(|call| match call {
            Call::Tool(called) => Some(called),
            Call::Model(_) => None,
        });
        Ok(called.collect())
    }

    /// Returns the next calls, if they were made. They must be those with these names.
    fn known<'n>(
        &mut self,
        stage: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Option<Vec<Call>>, Stop> {
        stage.clone_into(&mut self.stage);
        self.stage(stage)?;
        if self.open.is_some() {
            return Err(Stop(Reason::Parked));
        }

        let names: Vec<&str> = names.into_iter().collect();
        let next = self.calls.get(self.read..).unwrap_or_default();
        let next = next.get(..names.len()).unwrap_or(next);
        let has_failed = next.iter().all(Call::has_failed);
        if has_failed {
            // An attempt that failed is made again.
            self.calls.truncate(self.read);
            return Ok(None);
        }

        let is_same = |(call, name): (&Call, &&str)| call.is_at(stage, name);
        if next.len() < names.len() || !next.iter().zip(&names).all(is_same) {
            return Err(Stop::fail(CHANGED));
        }

        self.read += next.len();
        Ok(Some(next.to_vec()))
    }

    fn park(&mut self, stage: &str, mut questions: Vec<Question>, enough: Option<Enough>) -> Stop {
        for question in &mut questions {
            question.messages = self.conversation.clone();
        }
        self.park_at(stage, Work::Ask { questions, enough })
    }

    fn park_at(&mut self, stage: &str, work: Work) -> Stop {
        let stage = stage.to_owned();
        self.open.get_or_insert(Batch { stage, work });
        Stop(Reason::Parked)
    }
}

fn converted<T>(
    asked: &Asked,
    value: fn(&StageReply) -> Result<T, String>,
) -> Result<T, AskProblem> {
    let reply = asked.reply.as_ref().map_err(Clone::clone)?;
    value(reply).map_err(AskProblem::Unreadable)
}

impl Call {
    fn is_at(&self, stage: &str, name: &str) -> bool {
        match self {
            Self::Model(asked) => asked.stage == stage && asked.name == name,
            Self::Tool(called) => called.stage == stage && called.id == name,
        }
    }

    /// Returns whether the call has no outcome that a method can use.
    fn has_failed(&self) -> bool {
        match self {
            Self::Model(asked) => matches!(
                asked.reply,
                Err(AskProblem::Client(_) | AskProblem::Unreadable(_))
            ),
            Self::Tool(_) => false,
        }
    }
}

/// Returns the reply as the model wrote it, so that the conversation stays unchanged.
fn said(asked: &Asked, reply: &StageReply) -> Message {
    let raw = asked.tries.last().map(|last| last.reply.as_str());
    let message = Message::assistant(raw.unwrap_or(reply.text.as_str()))
        .with_tool_calls(reply.tool_calls.iter().cloned());

    match &reply.provider_data {
        Some(data) => message.with_provider_data(data.clone()),
        None => message,
    }
}

/// The maximum number of thoughts that repeat.
const LONGEST: usize = 24;

/// The number of repetitions that end a run.
const TIMES: u32 = 3;

/// Returns whether two texts are equal except for case and whitespace.
///
/// It stops at the first difference, since many texts are compared, which may be long.
fn is_same(one: &str, other: &str) -> bool {
    fn folded(text: &str) -> impl Iterator<Item = char> {
        text.split_whitespace()
            .flat_map(|word| word.chars().flat_map(char::to_lowercase).chain([' ']))
    }

    folded(one).eq(folded(other))
}
