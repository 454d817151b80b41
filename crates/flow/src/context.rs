//! What a run hands to every visit, down through subflows, items and branches.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use crate::cursor::Cursor;
use crate::error::RunError;
use crate::events::Watch;
use crate::journal::Journaled;
use crate::step::NamedStep;
use crate::visit::Failure;
use crate::wiring::Place;
use crate::yielding::{BETWEEN_YIELDS, yield_now};
use crate::{Action, EventKind, Flow, Journal, Level, MemoryJournal, Progress, StepName};

pub(crate) struct Context<'j> {
    /// Steps taken so far. Atomic because a run is `Sync`; everything inside one run is polled by
    /// one task, so plain loads and stores are enough.
    steps: AtomicU64,
    pub(crate) max_steps: u64,
    /// Boxed, as most runs have none of it.
    pub(crate) named: Option<Box<Named<'j>>>,
}

/// What needs the steps of a run to have names.
#[derive(Clone, Default)]
pub(crate) struct Named<'j> {
    pub(crate) watch: Option<Watch>,
    pub(crate) journal: Option<Journaled<'j>>,
    pub(crate) mailbox: Option<Arc<MemoryJournal>>,
}

/// A visit as what is visited sees it.
#[derive(Clone, Copy)]
pub(crate) struct Here<'a> {
    context: &'a Context<'a>,
    /// The step, where the run is watched or journaled.
    pub(crate) step: Option<&'a NamedStep<'a>>,
}

/// Which of the flows inside a visit.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    Item(usize),
    Branch(&'a str),
}

impl<'a> Here<'a> {
    /// Steps a flow inside the visit to its end.
    pub(crate) async fn finish<S>(
        self,
        flow: &Flow<S>,
        part: Part<'_>,
        state: &mut S,
    ) -> Result<(), Failure> {
        let around = self.step.map_or_else(Vec::new, |step| {
            let StepName { within, node, number, .. } = step.name.as_ref();
            let (node, number) = (node.clone(), *number);
            let level = match part {
                Part::Item(index) => Level::Item { node, number, index },
                Part::Branch(branch) => Level::Branch { node, number, branch: branch.to_owned() },
            };
            within.iter().cloned().chain([level]).collect()
        });
        let mut cursor = Cursor::at_start(&flow.wiring);
        let (context, around) = (self.context, Some(around.as_slice()));
        let mut walk = Walk { context, flow, cursor: &mut cursor, around, state, to_the_end: true };
        match walk.run().await {
            Ok(_) => Ok(()),
            Err(error) => {
                let label = match part {
                    Part::Item(index) => format!("[{index}]"),
                    Part::Branch(branch) => format!("/{branch}"),
                };
                Err(Failure::Inside(Box::new((label, error))))
            }
        }
    }

    /// Whether what is inside the visit must run one after the other.
    pub(crate) fn in_order(self) -> bool {
        self.step.and_then(|step| step.journal.as_ref()).is_some_and(|journal| journal.in_order())
    }

    /// The name of the step and what keeps its record, for what cannot do without.
    pub(crate) fn recorded(
        self,
        what: &'static str,
    ) -> Result<(&'a Arc<StepName>, &'a (dyn Journal + 'a)), Failure> {
        let found = self.step.and_then(|step| match (&step.journal, &step.mailbox) {
            (Some(journal), _) => Some((&step.name, &**journal)),
            (None, Some(mailbox)) if !step.inside => Some((&step.name, mailbox.as_ref() as &dyn Journal)),
            _ => None,
        });
        found.ok_or(Failure::NoJournal(what))
    }
}

impl<'j> Context<'j> {
    pub(crate) fn new(max_steps: u64) -> Self {
        Self { steps: AtomicU64::new(0), max_steps, named: None }
    }

    #[inline]
    pub(crate) fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    pub(crate) fn begin_at(&mut self, steps: u64) {
        *self.steps.get_mut() = steps;
    }

    /// Tells that a step is whole.
    async fn moved(
        &self,
        step: &NamedStep<'_>,
        cursor: &Cursor<'_>,
        action: &Action,
    ) -> Result<(), RunError> {
        let (next, steps) = (cursor.place(), self.steps());
        step.tell(|| match next {
            Some(next) => EventKind::Moved { action: action.clone(), to: next.name.clone() },
            None => EventKind::Ended { action: action.clone(), steps },
        });
        if step.inside {
            return Ok(());
        }
        if let Some(mailbox) = &step.mailbox {
            mailbox.forget_steps();
        }
        let Some(journal) = &step.journal else { return Ok(()) };
        let progress = match next {
            Some(next) => Progress::At { node: &next.name, steps },
            None => Progress::Ended { action, steps },
        };
        journal.progress(progress).await.map_err(|error| {
            let node = next.map_or(step.name.node.as_str(), |next| next.name.as_str());
            RunError::failed(cursor.flow_path(), node, Failure::Journal(error))
        })
    }

    /// A step out of those that are left. It counts from before the visit, so that items side by
    /// side cannot pass the limit together. If the visit comes to nothing it is given back, and with
    /// it the steps inside: they will be made again, or replayed.
    #[inline]
    fn reserve(&self, inside: bool) -> Option<Reserved<'_>> {
        let steps = self.steps();
        (steps < self.max_steps).then(|| {
            self.steps.store(steps + 1, Ordering::Relaxed);
            Reserved { steps: &self.steps, number: steps + 1, inside }
        })
    }
}

/// A walk through a flow, from where its cursor stands.
pub(crate) struct Walk<'a, 'f, S> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) flow: &'a Flow<S>,
    pub(crate) cursor: &'a mut Cursor<'f>,
    /// The way to the flow, where it stands inside a visit.
    pub(crate) around: Option<&'a [Level]>,
    pub(crate) state: &'a mut S,
    /// Whether to go on after the first step.
    pub(crate) to_the_end: bool,
}

impl<S> Walk<'_, '_, S> {
    /// Visits the node at the cursor and moves the cursor on, once, or to the end of the flow.
    /// Answers the last action; at the end the one it ended on.
    ///
    /// A panic is a failure of the node at the cursor. Items and branches are walks of their own, so
    /// the innermost node is the one that is named.
    pub(crate) async fn run(&mut self) -> Result<Action, RunError> {
        let walked = {
            let mut steps = pin!(self.steps());
            // Around the whole walk and not around each visit: a step costs nothing for it.
            poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| steps.as_mut().poll(context))) {
                Ok(polled) => polled.map(Ok),
                Err(panic) => Poll::Ready(Err(panicked(panic.as_ref()))),
            })
            .await
        };
        let Self { context, cursor, around, .. } = self;
        let walked = walked.unwrap_or_else(|panicked| {
            let node = cursor.place().map_or("", |place| place.name.as_str());
            Err(RunError::failed(cursor.flow_path(), node, panicked))
        });
        walked.map_err(|error| match (&context.named, cursor.place()) {
            (Some(named), Some(place)) => error.at(|| named.step(cursor, *around, place).name),
            _ => error,
        })
    }

    async fn steps(&mut self) -> Result<Action, RunError> {
        let Self { context, flow, around, to_the_end, .. } = *self;
        let (cursor, state) = (&mut *self.cursor, &mut *self.state);
        let Some(mut place) = cursor.place() else {
            return Ok(cursor.ended().cloned().unwrap_or(Action::DEFAULT));
        };
        // Outside of the loop, so that a run without names has nothing to drop each time.
        let mut step = None;
        loop {
            let Some(reserved) = context.reserve(around.is_some()) else {
                return Err(RunError::step_limit(cursor.flow_path(), &place.name, context.max_steps));
            };
            if reserved.number % BETWEEN_YIELDS == 0 {
                yield_now().await;
            }
            if let Some(named) = &context.named {
                let entered = step.insert(named.step(cursor, around, place));
                entered.tell(|| EventKind::StepEntered);
            }
            let here = Here { context, step: step.as_deref() };
            let action = match flow.visit(state, cursor.position(), here).await {
                Ok(action) => action,
                Err(failure) => return Err(RunError::failed(cursor.flow_path(), &place.name, *failure)),
            };
            let Some(target) = place.target(&action) else {
                return Err(RunError::undeclared(cursor.flow_path(), place, action));
            };
            reserved.take();
            cursor.follow(target, &action);
            if let Some(step) = &step {
                Box::pin(context.moved(step, cursor, &action)).await?;
            }
            match cursor.place() {
                Some(next) if to_the_end => place = next,
                _ => return Ok(action),
            }
        }
    }
}

impl<'j> Named<'j> {
    /// The step by name. Boxed, so that where there is none, the future of a step holds one word.
    pub(crate) fn step(
        &self,
        cursor: &Cursor<'_>,
        around: Option<&[Level]>,
        place: &Place,
    ) -> Box<NamedStep<'j>> {
        let own = cursor.flow_path().into_iter().map(Level::Flow);
        let within = match around {
            None => own.collect(),
            // The place says more than the name of the flow that stands there.
            Some(around) => around.iter().cloned().chain(own.skip(1)).collect(),
        };
        let name = StepName {
            within,
            node: place.name.clone(),
            number: cursor.steps().saturating_add(1),
            item: None,
        };
        let Self { watch, journal, mailbox } = self.clone();
        Box::new(NamedStep { name: Arc::new(name), inside: around.is_some(), watch, journal, mailbox })
    }
}

#[cold]
fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Failure::Panicked(text.unwrap_or("with something that is no text").to_owned())
}

struct Reserved<'a> {
    steps: &'a AtomicU64,
    number: u64,
    inside: bool,
}

impl Reserved<'_> {
    #[inline]
    fn take(self) {
        std::mem::forget(self);
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if !self.inside {
            self.steps.store(self.number - 1, Ordering::Relaxed);
        }
    }
}
