//! The loop over the steps of one flow.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use tokio::task::yield_now;
use tracing::{Instrument, Span};

use super::context::{Context, Here};
use super::cursor::Cursor;
use super::failure::Failure;
use crate::engine::Level;
use crate::watch::EventKind;
use crate::{Action, Flow, RunError, spans};

/// The number of steps, or of items of a batch, between yields to other tasks.
pub(crate) const BETWEEN_YIELDS: u64 = 128;

/// A walk through a flow, starting at its cursor.
pub(crate) struct Walk<'a, 'f, S> {
    pub(crate) context: &'a Context,
    pub(crate) flow: &'a Flow<S>,
    pub(crate) cursor: &'a mut Cursor<'f>,
    /// The path to the flow, if it is inside a visit.
    pub(crate) around: Option<&'a [Level]>,
    pub(crate) state: &'a mut S,
    pub(crate) distance: Distance,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distance {
    OneStep,
    ToTheEnd,
}

impl<S> Walk<'_, '_, S> {
    /// Visits nodes and moves the cursor. Returns the last action; after the end, the action on
    /// which the flow ended.
    ///
    /// A panic is a failure of the node at the cursor. Items and branches have their own walks, so
    /// the error names the innermost node.
    pub(crate) fn run(mut self) -> impl Future<Output = Result<Action, RunError>> {
        async move {
            let walked = {
                let mut steps = pin!(self.steps());

                // Around the whole walk instead of each visit, so that a step has no extra cost.
                poll_fn(|context| {
                    match catch_unwind(AssertUnwindSafe(|| steps.as_mut().poll(context))) {
                        Ok(polled) => polled.map(Ok),
                        Err(panic) => Poll::Ready(Err(panicked(panic.as_ref()))),
                    }
                })
                .await
            };

            let walked = walked
                .unwrap_or_else(|panicked| Err(RunError::new(self.cursor.location(), panicked)));
            // The name is made from the cursor, which `steps` borrows until here.
            walked.map_err(|error| self.name_step(error))
        }
    }

    // The fields aren't taken out of `self`, because the future would contain them twice.
    async fn steps(&mut self) -> Result<Action, RunError> {
        let Some(mut place) = self.cursor.place() else {
            return Ok(self.cursor.ended().cloned().unwrap_or(Action::DEFAULT));
        };

        if self.around.is_none() {
            // An earlier call may have been dropped in the middle of a step.
            self.context.budget.give_back();
        }

        // Outside of the loop, so that a run without names has nothing to drop in each iteration.
        let mut step = None;
        let mut span = None;

        loop {
            // Before the visit, so that a run at its limit can be resumed at this node.
            let Some(number) = self.context.budget.take() else {
                let limit = self.context.budget.max;
                return Err(self.failed(Failure::StepLimit { limit }));
            };

            // Nodes that never wait would otherwise keep a deadline or a token from being seen.
            if number % BETWEEN_YIELDS == 0 {
                yield_now().await;
            }

            if let Some(attached) = &self.context.attached {
                let entered = step.insert(attached.step(self.cursor, self.around, place));
                entered.emit(|| EventKind::StepEntered);
                let of_step = entered.span(|| self.flow.operation(self.cursor.path()));
                span = of_step.map(Box::new);
            }

            let here = Here {
                context: self.context,
                step: step.as_deref(),
            };
            let visit = self.flow.visit(self.state, self.cursor.path(), here);
            let visit = match &span {
                // Boxed a second time, which only runs with a subscriber pay for.
                Some(span) => Box::pin(visit.instrument(Span::clone(span))),
                None => visit,
            };

            let action = match visit.await {
                Ok(action) => action,
                Err(failure) => return Err(stopped(self.failed(*failure), span)),
            };
            let Some(exit) = place.exit(&action) else {
                let declared = place.exits.iter().map(|exit| exit.action.clone()).collect();
                let undeclared = Failure::UndeclaredAction { action, declared };
                return Err(stopped(self.failed(undeclared), span));
            };

            // A step in an item may be repeated until the step around it is complete.
            if self.around.is_none() {
                self.context.budget.keep();
            }

            // Before the progress is recorded: if that fails, the step must not be taken again.
            self.cursor.follow(exit);
            if let Some(step) = &step {
                if let Some(span) = span.take() {
                    span.record("action", action.as_str());
                }
                // Boxed, because only runs with a journal wait here, and each level of a future
                // counts.
                Box::pin(step.moved(self.cursor, &action, self.context.budget.taken())).await?;
            }

            match self.cursor.place() {
                Some(next) if self.distance == Distance::ToTheEnd => place = next,
                _ => return Ok(action),
            }
        }
    }

    #[cold]
    fn failed(&self, failure: Failure) -> RunError {
        RunError::new(self.cursor.location(), failure)
    }

    /// Adds the step to an error, if the steps of the run have names.
    fn name_step(&self, error: RunError) -> RunError {
        match (&self.context.attached, self.cursor.place()) {
            (Some(attached), Some(place)) => {
                error.at(|| attached.step(self.cursor, self.around, place).name)
            }
            _ => error,
        }
    }
}

/// Records an error in the span of its step.
#[cold]
fn stopped(error: RunError, span: Option<Box<Span>>) -> RunError {
    if let Some(span) = span {
        spans::step_stopped(&span, &error);
    }

    error
}

#[cold]
fn panicked(panic: &(dyn Any + Send)) -> Failure {
    // A panic with a literal contains a `&str`, and one with a formatted text a `String`.
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Failure::Panicked(text.unwrap_or("with a value that isn't text").to_owned())
}
