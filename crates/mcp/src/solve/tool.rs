//! The tool `solve`, and its runs as tasks of the protocol.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::{
    CallToolResponse, CallToolResult, CreateTaskResult, ProgressNotificationParam, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use tokio::sync::Semaphore;

use super::backend::{Backend, SolveSettings};
use super::request::{LONGEST, SolveRequest, definition};
use super::result::{end_of, result_of};
use super::running::{Finished, Running};
use crate::store::{Owner, SessionStore};
use crate::tool::{ServerTool, ToolCall, ToolFailure};

/// What to do if there is nothing to solve with.
const NOTHING: &str = "this server has no model to solve with; set OPENAI_MODEL and OPENAI_BASE_URL or \
    OPENAI_API_KEY in its environment, or think with the other tools";

/// The tool `solve`.
pub(crate) struct Solve {
    store: SessionStore,
    backend: Arc<Backend>,
    tasks: Tasks,
    runs: Arc<Semaphore>,
}

impl Solve {
    pub(crate) fn new(store: &SessionStore, settings: &SolveSettings, tasks: &Tasks) -> Self {
        Self {
            store: store.clone(),
            backend: Arc::new(Backend::new(settings)),
            tasks: tasks.clone(),
            runs: Arc::new(Semaphore::new(store.limits().solve_runs)),
        }
    }

    async fn start(&self, call: &mut ToolCall<'_>) -> Result<Running, ToolFailure> {
        let arguments = std::mem::take(&mut call.arguments);
        let limits = self.store.limits();
        let request = SolveRequest::read(arguments, &self.backend, limits)?;

        let permit = Arc::clone(&self.runs).try_acquire_owned();
        let permit = permit.map_err(|_| {
            let most = limits.solve_runs;
            ToolFailure::message(format_args!(
                "{most} runs are in progress, and at most {most} can be; try again later"
            ))
        })?;

        let owner = call.connection.owner();
        let running = Running::start(&self.store, owner, &self.backend, request, permit).await?;
        Ok(running)
    }
}

#[async_trait]
impl ServerTool for Solve {
    fn definition(&self) -> Tool {
        definition(&self.backend)
    }

    fn is_listed(&self) -> bool {
        !self.backend.methods().is_empty()
    }

    async fn call(&self, mut call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        if !self.is_listed() {
            return Err(ToolFailure::message(NOTHING));
        }

        let running = self.start(&mut call).await?;
        let capabilities = call.context.client_capabilities();
        if capabilities.is_some_and(|capabilities| capabilities.supports_tasks()) {
            let task = self.tasks.spawn(call.connection.owner(), running, LONGEST);
            return Ok(CallToolResponse::Task(task));
        }

        let finished = reported(running, call.context).await;
        Ok(result_of(&finished).into())
    }
}

/// Notifies the client of each thought, and cancels the run if the client cancels the request.
async fn reported(mut running: Running, context: &RequestContext<RoleServer>) -> Finished {
    let notified = async {
        while let Some(progress) = running.progress.recv().await {
            let Some(token) = context.meta.get_progress_token() else {
                continue;
            };

            #[expect(
                clippy::cast_precision_loss,
                reason = "the number of thoughts is far below 2^52"
            )]
            let thoughts = progress.thoughts as f64;
            let notification =
                ProgressNotificationParam::new(token, thoughts).with_message(progress.line);
            // A client that is gone cancels the request.
            let _ = context.peer.notify_progress(notification).await;
        }
    };

    tokio::select! {
        () = notified => {}
        () = context.ct.cancelled() => running.cancel(),
    }
    running.finished().await
}

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
