//! The context of a method: what was said and done so far, and the calls that it makes.

use std::fmt;
use std::sync::Arc;

use cogwork_llm::{Message, Messages};
use cogwork_text::{Escaped, Name, NameList};
use cogwork_tools::Tools;
use cogwork_typed::ask::no_answer;
use tokio::time::Instant;

use super::ask::Convert;
use super::method::Reason;
use super::question::Question;
use super::solving_event::report_changes;
use super::{
    Answer, Ask, AskProblem, Asked, Call, Called, EndReason, PlannedCall, SolveError, Solver,
    Solving, Stop,
};
use crate::session::{BranchId, Session, Thought, ThoughtDraft, ThoughtId};
use crate::{Stage, Strategy};

/// The context in which a [`Method`](super::Method) solves a problem.
///
/// It has the [session](Self::session) with the thoughts so far and the conversation with the model.
/// A method returns each [`Stop`] that it gets, with `?`.
pub struct Solve<'a> {
    solver: &'a Solver,
    /// The run as it follows from the calls that the method has read.
    run: &'a mut Solving,
    /// The number of thoughts that the state has already.
    known_thoughts: usize,
    conversation: Messages,
    /// The number of calls that the method has read.
    read: usize,
    /// The number of batches in which they were made.
    batches: usize,
    calls_left: Option<u32>,
    /// The stage that the method is in.
    stage: String,
    /// What must not repeat, with its stage.
    progress: Vec<(String, String)>,
    open: Option<Batch>,
}

/// The calls that a method waits for: questions, or calls of tools.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) stage: String,
    /// The conversation at whose end the questions are asked.
    pub(super) messages: Messages,
    pub(super) questions: Vec<Question>,
    /// When the answers are enough, unless all are needed.
    pub(super) enough: Option<Enough>,
    pub(super) calls: Vec<PlannedCall>,
}

/// Returns whether the answers so far are enough. An unanswered question is `None`.
pub(super) type Enough = Box<dyn Fn(&[Option<Asked>]) -> bool + Send + Sync>;

impl Batch {
    /// Returns what distinguishes each call from others.
    fn labels(&self) -> Vec<String> {
        let questions = self.questions.iter();
        let questions = questions.map(|question| question.label(&self.stage));
        let calls = self.calls.iter().map(|call| call.label(&self.stage));
        questions.chain(calls).collect()
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

/// Returns the error of a method that made a call before and now makes another one, or none.
fn changed(strategy: &Strategy, before: Option<&str>, now: Option<&str>) -> SolveError {
    // The hash is at the end.
    let shown = |label: &str| Escaped::new(label).with_max_chars(300).to_string();
    let [before, now] = [before, now].map(|label| shown(label.unwrap_or("no call")));
    let strategy = Name(strategy.name());
    SolveError::method(format!(
        "`{strategy}` is not deterministic, or was changed: it made `{before}` before and now makes `{now}` \
         (stage, name and hash of the text); begin a new run"
    ))
}

/// Works through the method with the calls that were made, and adds what follows from them to the
/// state. Returns the calls that it waits for, unless it has ended or reached a limit.
pub(super) fn advance(
    solver: &Solver,
    solving: &mut Solving,
) -> Result<Option<Arc<Batch>>, SolveError> {
    let started = Instant::now();
    let strategy = &solver.strategy;
    // Thoughts and answer follow from the calls again. A second way to keep them could
    // differ.
    let before = solving.begin_again(strategy);

    let mut cx = Solve {
        conversation: solver.opening(&solving.problem),
        stage: strategy.start().name.clone(),
        known_thoughts: before.thoughts().len(),
        read: 0,
        batches: 0,
        calls_left: None,
        progress: Vec::new(),
        open: None,
        run: &mut *solving,
        solver,
    };
    let result = solver.method.solve(&mut cx);

    let Solve {
        read, stage, open, ..
    } = cx;
    // A method can be slow by itself, for example in a check of the program.
    solving.worked = started.elapsed();

    // What has changed is reported even if the run fails then.
    report_changes(&before, solving);

    // A method may return something else than the stop that it got, but it still waits for its
    // calls.
    if let Some(batch) = open {
        return Ok(Some(Arc::new(batch)));
    }
    // Recorded calls that nobody asks for belong to another version of the method.
    let has_failed = matches!(result, Err(Stop(Reason::Failed(_))));
    if let Some(call) = solving.calls.get(read).filter(|_| !has_failed) {
        return Err(changed(strategy, Some(call.label()), None).at(&stage));
    }

    match result {
        // The types of replies allow an empty text, and an answer has to say something.
        Ok(answer) if answer.text.trim().is_empty() => solving.end_with(EndReason::GaveUp {
            why: "the strategy returned an empty answer".to_owned(),
        }),
        Ok(answer) => {
            solving.best = Some(answer);
            solving.end_with(EndReason::Answered);
        }
        Err(Stop(Reason::Limit(limit))) => solving.over = Some(limit),
        Err(Stop(Reason::Over(reason))) => solving.end_with(reason),
        Err(Stop(Reason::Failed(error))) => return Err(error.at(&stage)),
        Err(Stop(Reason::Parked)) => {
            return Err(SolveError::method("the method stopped without a call").at(&stage));
        }
    }
    Ok(None)
}

impl Solve<'_> {
    /// Returns the problem.
    pub fn problem(&self) -> &str {
        &self.run.problem
    }

    /// Returns the strategy.
    pub fn strategy(&self) -> &Strategy {
        &self.solver.strategy
    }

    /// Returns the stage with this name.
    ///
    /// # Errors
    ///
    /// Fails if the strategy doesn't have it.
    pub fn stage(&self, name: &str) -> Result<&Stage, Stop> {
        let strategy = &self.solver.strategy;
        strategy.stage(name).ok_or_else(|| {
            let known = NameList::or(strategy.stages().iter().map(|stage| &stage.name));
            let (name, strategy) = (Name(name), strategy.name());
            Stop::fail(format!(
                "`{name}` is not a stage of `{strategy}`; expected {known}"
            ))
        })
    }

    /// Returns the prompts of stages, as one text.
    ///
    /// # Errors
    ///
    /// Fails if the strategy doesn't have one of them.
    pub fn prompt(&self, stages: &[&str]) -> Result<String, Stop> {
        let prompts = stages.iter().map(|name| Ok(&*self.stage(name)?.prompt));
        Ok(prompts.collect::<Result<Vec<&str>, Stop>>()?.join(" "))
    }

    /// Returns the tools.
    pub fn tools(&self) -> &Tools {
        &self.solver.tools
    }

    /// Returns whether the client supports tools. Otherwise, the tools have to be described in the
    /// text for the model.
    pub fn native_tools(&self) -> bool {
        self.solver.native_tools()
    }

    /// Returns how many more calls of the model fit into the limits on calls and time, at the pace so
    /// far and besides the conclusion. It is `None` without limits, and before the first reply.
    pub fn calls_left(&self) -> Option<u32> {
        self.calls_left
    }

    /// Returns the session with the thoughts.
    pub fn session(&self) -> &Session {
        &self.run.session
    }

    /// Returns the session mutably, to fork, score, merge and prune branches.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.run.session
    }

    /// Returns the thoughts from the last one of the current branch back to the first.
    pub fn path(&self) -> impl Iterator<Item = &Thought> {
        let branch = self.run.session.branch(self.run.session.current());
        self.run
            .session
            .path(branch.ok().and_then(|branch| branch.tip()))
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
        self.add_on(self.run.session.current(), draft)
    }

    /// Adds a thought with parameters to a branch.
    ///
    /// # Errors
    ///
    /// Fails if the session refuses the thought. Ends the run if the session is full.
    pub fn add_on(&mut self, branch: BranchId, draft: ThoughtDraft) -> Result<ThoughtId, Stop> {
        // Kept even if the thought is refused, because the error names the stage.
        if let Some(stage) = &draft.stage {
            self.stage.clone_from(stage);
        }

        self.check_limits()?;
        Ok(self.run.session.think_on(branch, draft)?)
    }

    /// Adds the problem as the first thought, in the stage in which the strategy starts.
    ///
    /// # Errors
    ///
    /// Fails if the session has thoughts already, or if the stage needs parameters.
    pub fn think_problem(&mut self) -> Result<ThoughtId, Stop> {
        let stage = self.strategy().start().name.clone();
        self.think(&stage, self.run.problem.clone())
    }

    /// Checks that the limits on thoughts and time allow another thought or call. They don't end what
    /// the state has already.
    fn check_limits(&self) -> Result<(), Stop> {
        let thoughts = self.run.session.thoughts().len();
        // Limits may have been lowered since. What was done within the old ones is still worked through.
        if self.read < self.run.calls.len() || thoughts < self.known_thoughts {
            return Ok(());
        }

        // Without the batches, a method that only calls tools would never reach a limit on thoughts.
        let thoughts = thoughts.max(self.batches);
        match self.solver.limits.reached(&self.run.spent, thoughts) {
            Some(limit) => Err(Stop(Reason::Limit(limit))),
            None => Ok(()),
        }
    }

    /// Ends the run if the last thoughts repeat the same sequence three times. Only thoughts for
    /// which this was called are compared, by `what` they contribute, apart from case and whitespace.
    ///
    /// # Errors
    ///
    /// Ends the run with [`EndReason::NoProgress`].
    pub fn progress(&mut self, what: impl Into<String>) -> Result<(), Stop> {
        let what = what.into().to_lowercase();
        // A model that repeats itself may still vary case and line breaks.
        let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
        self.progress.push((self.stage.clone(), what));

        // A sequence of several thoughts may repeat, such as question, answer, question, answer.
        let repeats = |length: usize| {
            let newest: Vec<_> = self.progress.rchunks_exact(length).take(TIMES).collect();
            newest.len() == TIMES && newest.iter().all(|one| Some(one) == newest.first())
        };
        if (1..=LONGEST).any(repeats) {
            return Err(Stop::from(EndReason::NoProgress {
                stage: self.stage.clone(),
            }));
        }
        Ok(())
    }

    /// Keeps an answer of the model. It is the result if the run ends early.
    pub fn keep(&mut self, answer: impl Into<Answer>) {
        self.run.best = Some(answer.into());
        self.run.is_guess = false;
    }

    /// Keeps a text as the best answer until the model gives one, unless the text
    /// [isn't an answer](no_answer). Before the run ends early, the model is still asked for one.
    pub fn keep_guess(&mut self, text: &str) {
        // A refusal would be worse than no answer, since callers use what is there.
        if no_answer(text, &self.run.problem).is_none() {
            self.run.best = Some(text.into());
            self.run.is_guess = true;
        }
    }

    /// [Adds](Messages::add) a message to the conversation.
    pub fn add_message(&mut self, message: Message) {
        self.conversation.add(message);
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
        let asked = self.asked(stage, vec![question.clone()], None)?.pop();
        let asked = asked.and_then(|asked| Some((asked.reply.ok()?, asked.log)));
        // A question without a reply would have been asked again.
        let (reply, log) = asked.ok_or_else(|| Stop::fail("the question has no reply"))?;

        self.add_message(question.message(log.format));
        // As the model wrote it, so that the conversation stays unchanged.
        let raw = log.tries.last();
        let raw = raw.map_or(reply.text.as_str(), |last| last.reply.as_str());
        let said = Message::assistant(raw).with_tool_calls(reply.tool_calls.iter().cloned());
        self.add_message(match &reply.provider_data {
            Some(data) => said.with_provider_data(data.clone()),
            None => said,
        });
        value(&reply).map_err(Stop::fail)
    }

    /// Asks the model several questions concurrently, each at the end of the conversation, which
    /// doesn't change. Returns the replies in order. At least one question has a reply.
    ///
    /// # Errors
    ///
    /// Stops if there are no replies yet, or if a limit doesn't allow the calls. The run fails if no
    /// question has a reply.
    pub fn ask_all<T: 'static>(
        &mut self,
        stage: &str,
        asks: Vec<Ask<T>>,
    ) -> Result<Vec<Result<T, AskProblem>>, Stop> {
        self.ask_until_enough(stage, asks, |_| false)
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

        let questions = asks.into_iter().map(|ask| ask.question).collect();
        // Only needed while the questions are asked. A replay knows which ones were not needed.
        let enough: Enough = Box::new(move |asked| {
            let asked = asked.iter().map(Option::as_ref);
            let replies = asked.map(|asked| Some(converted(asked?, value)));
            enough(&replies.collect::<Vec<_>>())
        });
        let asked = self.asked(stage, questions, Some(enough))?;
        Ok(asked.iter().map(|asked| converted(asked, value)).collect())
    }

    /// Returns the questions with what became of them, if they were asked.
    fn asked(
        &mut self,
        stage: &str,
        questions: Vec<Question>,
        enough: Option<Enough>,
    ) -> Result<Vec<Asked>, Stop> {
        let calls = self.outcomes(Batch {
            stage: stage.to_owned(),
            messages: self.conversation.clone(),
            questions,
            enough,
            calls: Vec::new(),
        })?;

        let asked = calls.into_iter().filter_map(|call| match call {
            Call::Model(asked) => Some(asked),
            Call::Tool(_) => None,
        });
        Ok(asked.collect())
    }

    /// Calls tools concurrently. Returns the results in order.
    ///
    /// # Errors
    ///
    /// Stops if there are no results yet, or if the time of the limits is over.
    pub fn call_tools(
        &mut self,
        stage: &str,
        calls: Vec<PlannedCall>,
    ) -> Result<Vec<Called>, Stop> {
        // Parking for nothing would be a step that changes nothing.
        if calls.is_empty() {
            return Ok(Vec::new());
        }

        let fitted = calls.into_iter().map(|call| call.fitted(self.tools()));
        let calls = fitted.collect();
        let calls = self.outcomes(Batch {
            stage: stage.to_owned(),
            calls,
            ..Batch::default()
        })?;

        let called = calls.into_iter().filter_map(|call| match call {
            Call::Tool(called) => Some(called),
            Call::Model(_) => None,
        });
        Ok(called.collect())
    }

    /// Returns the outcomes of calls, if they were made. They must be the same calls as then.
    fn outcomes(&mut self, batch: Batch) -> Result<Vec<Call>, Stop> {
        self.stage.clone_from(&batch.stage);
        self.stage(&batch.stage)?;
        // A method that ignores the stop would otherwise wait for two batches.
        if self.open.is_some() {
            return Err(Stop(Reason::Parked));
        }

        let labels = batch.labels();
        let next = self.run.calls.get(self.read..).unwrap_or_default();
        let next = next.get(..labels.len()).unwrap_or(next);
        if next.iter().all(Call::has_failed) {
            // An attempt that failed is made again.
            self.run.calls.truncate(self.read);
            return Err(self.park(batch));
        }

        let mut before = next.iter().map(Call::label);
        let both = labels.iter().map(|now| (before.next(), Some(now.as_str())));
        if let Some((before, now)) = both.into_iter().find(|(before, now)| before != now) {
            return Err(Stop(Reason::Failed(changed(self.strategy(), before, now))));
        }

        let next = next.to_vec();
        self.read += next.len();
        if let Some(Call::Model(asked)) = next.last() {
            self.calls_left = asked.calls_left;
        }
        // Counted when the calls are read, so that a replay counts the same.
        self.batches += 1;
        Ok(next)
    }

    fn park(&mut self, batch: Batch) -> Stop {
        // Only before new calls: a run that is complete ends as such, even if it has used up its
        // limits. The recorded cost counts, since a replay doesn't have that of failed attempts.
        if let Err(over) = self.check_limits() {
            return over;
        }
        let by_calls = self.solver.limits.reached_by_calls(&self.run.spent);
        if let Some(limit) = by_calls.filter(|_| !batch.questions.is_empty()) {
            return Stop(Reason::Limit(limit));
        }

        self.open = Some(batch);
        Stop(Reason::Parked)
    }
}

fn converted<T>(asked: &Asked, value: Convert<T>) -> Result<T, AskProblem> {
    let reply = asked.reply.as_ref().map_err(Clone::clone)?;
    value(reply).map_err(AskProblem::Unreadable)
}

/// The maximum number of thoughts that repeat.
const LONGEST: usize = 24;

/// The number of repetitions that end a run.
pub(super) const TIMES: usize = 3;
