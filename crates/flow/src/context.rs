//! What a run hands to every visit, down through subflows, items and branches.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use crate::cursor::Cursor;
use crate::error::RunError;
use crate::events::{StepName, Watch, WatchedStep};
use crate::visit::Failure;
use crate::wiring::Place;
use crate::{Action, EventKind, Flow};

#[derive(Debug)]
pub(crate) struct Context {
    /// Steps taken so far. Atomic because a run is `Sync`; everything inside one run is polled by
    /// one task, so plain loads and stores are enough.
    steps: AtomicU64,
    pub(crate) max_steps: u64,
    pub(crate) watch: Option<Watch>,
}

/// A visit as what is visited sees it.
#[derive(Clone, Copy)]
pub(crate) struct Here<'a> {
    pub(crate) context: &'a Context,
    /// The step, where the run is watched.
    pub(crate) step: Option<&'a WatchedStep>,
}

impl Here<'_> {
    /// Steps a flow inside the visit to its end; `label` tells it from the others beside it.
    pub(crate) async fn finish<S>(self, flow: &Flow<S>, label: String, state: &mut S) -> Result<(), Failure> {
        let around = self.step.map(|step| {
            let StepName { flow_path, node, .. } = step.name.as_ref();
            flow_path.iter().cloned().chain([format!("{node}{label}")]).collect::<Vec<_>>()
        });
        let mut cursor = Cursor::at_start(&flow.wiring);
        loop {
            match self.context.step(flow, &mut cursor, around.as_deref(), state).await {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(()),
                Err(error) => return Err(Failure::Inside { label, error }),
            }
        }
    }
}

impl Context {
    pub(crate) fn new(max_steps: u64) -> Self {
        Self { steps: AtomicU64::new(0), max_steps, watch: None }
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Visits the node at the cursor and moves the cursor on. Answers the action; `None` at the end.
    /// `around` is the path to the flow, where it stands inside a visit of a run that is watched.
    pub(crate) async fn step<S>(
        &self,
        flow: &Flow<S>,
        cursor: &mut Cursor<'_>,
        around: Option<&[String]>,
        state: &mut S,
    ) -> Result<Option<Action>, RunError> {
        let Some(place) = cursor.place() else { return Ok(None) };
        if self.steps() % STEPS_BETWEEN_YIELDS == STEPS_BETWEEN_YIELDS - 1 {
            yield_now().await;
        }
        let Some(reserved) = self.reserve() else {
            return Err(RunError::step_limit(cursor.flow_path(), &place.name, self.max_steps));
        };
        let step = self.watched(cursor, around, place);
        if let Some(step) = &step {
            step.tell(EventKind::StepEntered);
        }
        let here = Here { context: self, step: step.as_deref() };
        let action = match flow.visit(state, cursor.position(), here).await {
            Ok(action) => action,
            Err(Failure::Node(failed)) => {
                return Err(RunError::node_failed(cursor.flow_path(), &place.name, failed));
            }
            Err(Failure::Inside { label, error }) => {
                let mut around = cursor.flow_path();
                around.push(format!("{}{label}", place.name));
                return Err(error.inside(around));
            }
        };
        let Some(target) = place.target(&action) else {
            let declared = place.exits.iter().map(|exit| exit.action.clone()).collect();
            return Err(RunError::undeclared(cursor.flow_path(), &place.name, action, declared));
        };
        reserved.take();
        cursor.follow(target, &action);
        if let Some(step) = &step {
            let action = action.clone();
            step.tell(match cursor.place() {
                Some(place) => EventKind::Moved { action, to: place.name.clone() },
                None => EventKind::Ended { action, steps: self.steps() },
            });
        }
        Ok(Some(action))
    }

    /// A step out of those that are left. It counts from before the visit, so that items side by
    /// side cannot pass the limit together, and is given back if the visit comes to nothing.
    fn reserve(&self) -> Option<Reserved<'_>> {
        let steps = self.steps();
        (steps < self.max_steps).then(|| {
            self.steps.store(steps + 1, Ordering::Relaxed);
            Reserved(&self.steps)
        })
    }

    /// The step by name, where the run is watched. Boxed, so that where it is not, the future of a
    /// step holds one word for it.
    fn watched(
        &self,
        cursor: &Cursor<'_>,
        around: Option<&[String]>,
        place: &Place,
    ) -> Option<Box<WatchedStep>> {
        let watch = self.watch.clone()?;
        let flow_path = match around {
            None => cursor.flow_path(),
            Some(around) => around.iter().cloned().chain(cursor.flow_path().into_iter().skip(1)).collect(),
        };
        let name = StepName { flow_path, node: place.name.clone(), number: cursor.steps() + 1 };
        Some(Box::new(WatchedStep { watch, name: Arc::new(name) }))
    }
}

struct Reserved<'a>(&'a AtomicU64);

impl Reserved<'_> {
    fn take(self) {
        std::mem::forget(self);
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.0.store(self.0.load(Ordering::Relaxed).saturating_sub(1), Ordering::Relaxed);
    }
}

/// A run whose nodes never wait gives way to other tasks after so many steps, or nothing outside
/// could stop it.
const STEPS_BETWEEN_YIELDS: u64 = 128;

/// Lets other tasks run, on any runtime.
async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
