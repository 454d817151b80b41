mod reporting;
mod settings;
mod stream;

pub use stream::{Finished, RunItem, RunStream};

use std::fmt;
use std::pin::pin;
use std::sync::Arc;

use cogwork_text::{ErrorText, Name, NameList};
use serde::Serialize;
use tracing::Instrument;

use crate::draw::FlowGraph;
use crate::engine::{Journal, Json, MemoryJournal, RefusedAnswer, encode};
use crate::execute::budget::Budget;
use crate::execute::context::Context;
use crate::execute::cursor::Cursor;
use crate::execute::failure::Failure;
use crate::execute::named_step::Attached;
use crate::execute::stop::{Stop, unless_stopped};
use crate::execute::walk::{Distance, Walk};
use crate::{Action, Flow, Paused, RunError, spans};
use settings::Extra;

/// A run of a flow: a cursor over the checked graph.
///
/// [`finish`](Run::finish) calls [`step`](Run::step) in a loop, so a program that calls `step`
/// itself takes exactly the same steps. The state is passed to each step and belongs to the caller
/// between steps.
///
/// A run that has to wait for an event pauses: [`proceed`](Run::proceed) returns what it waits for, and
/// to the other two methods a pause is an error. The run stays at the [`Wait`](crate::Wait), and the
/// next call resumes it.
///
/// ```
/// use cogwork_flow::{Flow, Stepped, from_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::builder("greet")
///     .start("hello")
///     .node("hello", from_fn(|text: &mut String| text.push_str("Hello")))
///     .node("name", from_fn(|text: &mut String| text.push_str(", Ada")))
///     .edge("hello", "default", "name")
///     .end("name", "default")
///     .build()?;
///
/// let mut text = String::new();
/// let mut run = flow.begin().with_max_steps(100);
/// while let Stepped::Moved { from, to, .. } = run.step(&mut text).await? {
///     assert_eq!((from, to, text.as_str()), ("hello", "name", "Hello"));
/// }
/// assert_eq!(text, "Hello, Ada");
/// # Ok(())
/// # }
/// ```
pub struct Run<'f, S> {
    flow: &'f Flow<S>,
    cursor: Cursor<'f>,
    context: Context,
    stop: Option<Box<Stop>>,
    /// Boxed, since few runs have any of it.
    extra: Option<Box<Extra<S>>>,
}

impl<'f, S> Run<'f, S> {
    /// The default maximum number of steps: 10,000.
    pub const DEFAULT_MAX_STEPS: u64 = 10_000;

    pub(crate) fn new(flow: &'f Flow<S>) -> Self {
        let mut attached = None;
        // Answers are kept until they are used, also in a run without a journal.
        if flow.wiring.waits {
            attached = Some(Arc::new(Attached {
                answers: Some(Arc::new(MemoryJournal::new(""))),
                ..Attached::default()
            }));
        }

        Self {
            flow,
            cursor: Cursor::at_start(&flow.wiring),
            context: Context {
                budget: Budget::new(Self::DEFAULT_MAX_STEPS),
                attached,
            },
            stop: None,
            extra: None,
        }
    }

    /// Returns the number of nodes visited so far.
    pub fn steps(&self) -> u64 {
        self.context.budget.complete()
    }

    /// Returns the next node; `None` after the end.
    pub fn node(&self) -> Option<&'f str> {
        self.cursor.place().map(|place| place.name.as_str())
    }

    /// Visits the next node and follows the edge of the action that it returns.
    ///
    /// Once the run has ended, each call returns the same [`Stepped::Ended`]. If the future is
    /// dropped, the run stays at the node, and the next call visits it again.
    ///
    /// # Errors
    ///
    /// Returns an error if the node fails, panics or returns an action that it doesn't declare, if
    /// the run [pauses](RunError::paused), reaches its maximum number of steps or its deadline or
    /// is cancelled, or if its journal fails. The run stays at the node, so the call can be
    /// repeated.
    pub async fn step(&mut self, state: &mut S) -> Result<Stepped<'f>, RunError> {
        // Read before the walk, which moves the cursor.
        let from = self.node().unwrap_or_default();
        let walked = self.walk(state, Distance::OneStep).await?;

        Ok(match self.node() {
            Some(to) => Stepped::Moved {
                from,
                action: walked.action,
                to,
            },
            None => Stepped::Ended(walked),
        })
    }

    /// Takes steps until the run ends. After an error, the run can be resumed with another call.
    ///
    /// # Errors
    ///
    /// The same as [`step`](Run::step).
    pub fn finish(&mut self, state: &mut S) -> impl Future<Output = Result<Ended, RunError>> {
        self.walk(state, Distance::ToTheEnd)
    }

    /// Takes steps until the run ends or pauses, and returns which.
    ///
    /// # Errors
    ///
    /// The same as [`step`](Run::step), except for a pause.
    pub async fn proceed(&mut self, state: &mut S) -> Result<Proceeded, RunError> {
        match self.finish(state).await {
            Ok(ended) => Ok(Proceeded::Ended(ended)),
            Err(error) => error.into_paused().map(Proceeded::Paused),
        }
    }

    /// Delivers the answer to an event that a [`Wait`](crate::Wait) of the run waits for, now or
    /// later.
    ///
    /// The events for which composite nodes [wait](crate::engine::wait_for) are only known once
    /// the run has reached the wait.
    ///
    /// # Errors
    ///
    /// Returns an error if no node of the flow waits for this event, if the run has ended, or if the
    /// answer can't be read, is refused by the wait or the journal, or cannot be recorded.
    pub async fn deliver(&self, event: &str, answer: &impl Serialize) -> Result<(), RunError> {
        let (journal, answer) = self.checked(event, answer)?;
        let delivered = journal.deliver(event, answer).await;
        // Not a failure of the journal: whoever answers can send a different answer.
        delivered.map_err(|error| match error.downcast::<RefusedAnswer>() {
            Ok(refused) => self.error(Failure::Refused(refused.to_string())),
            Err(error) => self.error(Failure::Journal(error)),
        })
    }

    /// Checks that an answer to an event can be delivered. A program with several answers checks all
    /// of them before it delivers the first.
    ///
    /// # Errors
    ///
    /// Returns an error if no node of the flow waits for this event, if the run has ended, or if the
    /// answer can't be read or is refused by the wait.
    pub fn check_answer(&self, event: &str, answer: &impl Serialize) -> Result<(), RunError> {
        self.checked(event, answer).map(drop)
    }

    /// Returns what keeps the answers to an event, and an answer that a wait for it can use.
    fn checked(
        &self,
        event: &str,
        answer: &impl Serialize,
    ) -> Result<(&dyn Journal, Json), RunError> {
        let (attached, journal) = self.keeper_of(event)?;
        let answer = encode(answer, attached.max_outcome())
            .map_err(|problem| self.error(Failure::Journal(problem.into())))?;

        let mut problem = None;
        let is_accepted = self.flow.wiring.any_wait(event, &mut |accept| {
            let refused = accept(&answer).err();
            let is_accepted = refused.is_none();
            problem = problem.take().or(refused);
            is_accepted
        });
        // Whichever wait comes first takes the answer.
        match problem.filter(|_| !is_accepted) {
            Some(problem) => {
                let (event, problem) = (Name(event), ErrorText(&*problem));
                let reason = format!("the answer to `{event}` can't be used: {problem}");
                Err(self.error(Failure::Refused(reason)))
            }
            None => Ok((journal, answer)),
        }
    }

    /// Returns what keeps the answers to an event.
    fn keeper_of(&self, event: &str) -> Result<(&Attached, &dyn Journal), RunError> {
        let name = Name(event);
        if self.cursor.ended().is_some() {
            let reason = format!("the run has ended, so nothing waits for the event `{name}`");
            return Err(self.error(Failure::Refused(reason)));
        }

        let wiring = &self.flow.wiring;
        // The graph doesn't have the events of composite nodes, which only the journal knows.
        let awaits =
            |journal: &dyn Journal| wiring.any_wait(event, &mut |_| true) || journal.awaits(event);
        let attached = self.context.attached.as_deref();
        let found = attached.and_then(|attached| Some((attached, attached.keeper()?)));
        found
            .filter(|(_, journal)| awaits(*journal))
            .ok_or_else(|| {
                let graph = FlowGraph::of(wiring);
                let known = graph.events();
                let known = NameList::and(&known);
                let reason =
                    format!("nothing waits for the event `{name}`; the nodes wait for {known}");
                self.error(Failure::Refused(reason))
            })
    }

    /// Walks, inside a `tracing` span if a subscriber wants one. Returns the last action, and the number
    /// of steps so far.
    ///
    /// An `async fn` would hold its arguments twice.
    fn walk(
        &mut self,
        state: &mut S,
        distance: Distance,
    ) -> impl Future<Output = Result<Ended, RunError>> {
        // A run that has ended does nothing more, and needs no span.
        let is_traced = self.cursor.place().is_some() && spans::are_wanted();

        async move {
            // Boxed, like the next one, so that most runs don't have room for them in their
            // futures.
            if is_traced {
                return Box::pin(self.walk_traced(state, distance)).await;
            }
            if self.extra.is_some() {
                return Box::pin(self.walk_and_fold(state, distance)).await;
            }

            self.walk_on(state, distance).await
        }
    }

    async fn walk_traced(&mut self, state: &mut S, distance: Distance) -> Result<Ended, RunError> {
        let span = spans::of_run(&self.flow.wiring.name, self.id());
        self.attached().is_traced = true;

        let walk = self.walk_and_fold(state, distance);
        let walked = walk.instrument(span.clone()).await;
        match &walked {
            Ok(ended) if self.cursor.place().is_none() => {
                span.record("action", ended.action.as_str());
                span.record("steps", ended.steps);
            }
            Ok(_) => {}
            Err(error) => spans::stopped(&span, error),
        }

        walked
    }

    /// Walks, folds the record when it is due, and reports a stop.
    fn walk_and_fold(
        &mut self,
        state: &mut S,
        distance: Distance,
    ) -> impl Future<Output = Result<Ended, RunError>> {
        let folding = self.extra.as_ref().and_then(|extra| extra.folding);

        async move {
            // A traced run comes here with or without these settings.
            if self.extra.is_some() {
                self.begin_watching()?;
                self.check_state(state)?;
            }

            // A run that folds comes back here after each step.
            let stretch = match folding {
                Some(_) => Distance::OneStep,
                None => distance,
            };

            loop {
                let walked = self.walk_on(state, stretch).await?;
                if self.cursor.place().is_none() {
                    return Ok(walked);
                }

                if let Some((every, write)) = folding
                    && self.cursor.steps() % every == 0
                {
                    // Written before the wait, so that the state need not be `Sync`.
                    let state = write(state);
                    Box::pin(self.fold(state)).await?;
                }

                if distance == Distance::OneStep {
                    return Ok(walked);
                }
            }
        }
    }

    /// Walks unless the run is stopped from outside.
    fn walk_on(
        &mut self,
        state: &mut S,
        distance: Distance,
    ) -> impl Future<Output = Result<Ended, RunError>> {
        async move {
            let walk = Walk {
                context: &self.context,
                flow: self.flow,
                cursor: &mut self.cursor,
                around: None,
                state,
                distance,
            };
            let walked = unless_stopped(self.stop.as_deref(), pin!(walk.run())).await;

            let walked = walked.unwrap_or_else(|stopped| match self.cursor.ended() {
                // The flow had ended already; only the wait for the end to be recorded was interrupted.
                Some(action) => Ok(action.clone()),
                None => Err(self.error(Failure::Stopped(stopped))),
            });
            match walked {
                Ok(action) => Ok(Ended {
                    action,
                    steps: self.steps(),
                }),
                // Boxed, because a run stops at most once.
                Err(error) => Err(Box::pin(self.stopped(error)).await),
            }
        }
    }

    fn error(&self, failure: Failure) -> RunError {
        RunError::new(self.cursor.location(), failure)
    }
}

impl<S> fmt::Debug for Run<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("node", &self.node())
            .field("steps", &self.steps())
            .finish_non_exhaustive()
    }
}

/// The result of one step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stepped<'f> {
    /// The run moved to a different node, or to the same one again.
    Moved {
        /// The node that was visited.
        from: &'f str,
        /// The action that it returned.
        action: Action,
        /// The node to visit next.
        to: &'f str,
    },
    /// The run has ended.
    Ended(Ended),
}

/// How far [`Run::proceed`] got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proceeded {
    /// The run has ended.
    Ended(Ended),
    /// The run waits for an event.
    Paused(Paused),
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The action on which the flow ended.
    pub action: Action,
    /// The number of visits to nodes, including repeated ones.
    pub steps: u64,
}
