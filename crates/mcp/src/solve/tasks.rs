//! Runs as tasks of the protocol, which clients poll.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{CallToolResult, CreateTaskResult};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};

use super::result::{end_of, result_of};
use super::running::Running;
use crate::store::Owner;

/// How often a client should poll, in milliseconds.
const POLL: u64 = 2_000;

/// How long the result of a task is kept after the longest run.
const KEPT: Duration = Duration::from_secs(10 * 60);

/// The tasks of all clients. Cloning shares them.
#[derive(Clone, Default)]
pub(crate) struct Tasks(Arc<Mutex<HashMap<Owner, TaskManager>>>);

impl Tasks {
    /// Returns the tasks of one owner. Those of others cannot be reached with their ids.
    pub(crate) fn of(&self, owner: &Owner) -> TaskManager {
        let mut managers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        managers.entry(owner.clone()).or_default().clone()
    }

    /// Makes a run a task, which goes on if the client disconnects.
    pub(super) fn spawn(
        &self,
        owner: &Owner,
        running: Running,
        longest: Duration,
    ) -> CreateTaskResult {
        // Some time of a run isn't part of its budget, such as that of reading replies.
        let kept = longest.saturating_mul(2).saturating_add(KEPT);
        let kept = u64::try_from(kept.as_millis()).unwrap_or(u64::MAX);
        let options = TaskOptions::new()
            .with_ttl_ms(kept)
            .with_poll_interval_ms(POLL)
            .with_status_message(format!("session {}", running.id));

        let task = self
            .of(owner)
            .spawn(options, |context| Box::pin(watched(running, context)));
        CreateTaskResult::new(task)
    }
}

/// Shows the thoughts of a run in the status of its task.
async fn watched(mut running: Running, context: TaskContext) -> Result<CallToolResult, TaskExit> {
    loop {
        tokio::select! {
            progress = running.progress.recv() => match progress {
                Some(progress) => context.set_status_message(progress.line),
                None => break,
            },
            () = context.cancelled() => {
                running.cancel();
                let finished = running.finished().await;
                context.set_status_message(end_of(&finished));
                return Err(TaskExit::Cancelled);
            }
        }
    }

    let finished = running.finished().await;
    context.set_status_message(end_of(&finished));
    Ok(result_of(&finished))
}
