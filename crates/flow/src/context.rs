//! What a run hands to every visit, down through subflows, items and branches.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::cursor::Cursor;
use crate::error::RunError;
use crate::visit::Failure;
use crate::{Action, Flow};

#[derive(Debug)]
pub(crate) struct Context {
    /// Steps taken so far. Atomic because a run is `Sync`; everything inside one run is polled by
    /// one task, so plain loads and stores are enough.
    steps: AtomicU64,
    pub(crate) max_steps: u64,
}

impl Context {
    pub(crate) fn new(max_steps: u64) -> Self {
        Self { steps: AtomicU64::new(0), max_steps }
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Visits the node at the cursor and moves the cursor on. Answers the action; `None` at the end.
    pub(crate) async fn step<S>(
        &self,
        flow: &Flow<S>,
        cursor: &mut Cursor<'_>,
        state: &mut S,
    ) -> Result<Option<Action>, RunError> {
        let Some(place) = cursor.place() else { return Ok(None) };
        if self.steps() >= self.max_steps {
            return Err(RunError::step_limit(cursor.flow_path(), &place.name, self.max_steps));
        }
        let action = match flow.visit(state, cursor.position(), self).await {
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
        self.steps.store(self.steps() + 1, Ordering::Relaxed);
        cursor.follow(target, &action);
        Ok(Some(action))
    }

    /// Steps a flow inside a visit to its end.
    pub(crate) async fn finish<S>(&self, flow: &Flow<S>, state: &mut S) -> Result<(), RunError> {
        let mut cursor = Cursor::at_start(&flow.wiring);
        while self.step(flow, &mut cursor, state).await?.is_some() {}
        Ok(())
    }
}
