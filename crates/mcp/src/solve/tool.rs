use std::sync::Arc;

use async_trait::async_trait;
use cogwork_strategies::SolveBudget;
use rmcp::model::{CallToolResponse, ProgressNotificationParam, Tool};
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::Semaphore;

use super::backend::Backend;
use super::request::SolveRequest;
use super::result::result_of;
use super::running::{Finished, Running};
use super::settings::SolveSettings;
use super::{Tasks, schema};
use crate::store::SessionStore;
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
        schema::tool(&self.backend)
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
            let longest = SolveBudget::default().time;
            let task = self.tasks.spawn(call.connection.owner(), running, longest);
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
