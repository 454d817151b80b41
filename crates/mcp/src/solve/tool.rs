//! The definition of the tool, and its calls.

use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::CancellationToken;
use cogwork_text::{Name, NameList, OneLine, counted};
use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_typed::ask::{Limits, Spent};
use rmcp::model::{CallToolResult, ProgressNotificationParam};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};

use super::backend::Backend;
use super::drive::Request;
use super::session::{SolveEnd, Watch};
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::method::Method;
use crate::resources::session_uri;
use crate::run::Status;
use crate::store::{SessionId, SessionStore};
use crate::tool::{Caller, ServerTool, definition, set_keyword, text};

pub(crate) const NAME: &str = "solve";

const DESCRIPTION: &str = "\
Solves a problem with another model, in a run of many thoughts that follow a strategy, and returns the answer. For a \
problem that is worth minutes and many calls. The model sees nothing but `problem`: include all facts, constraints and \
the form of the answer.";

/// The maximum number of runs at the same time.
const RUNS: usize = 4;

/// The maximum number of characters of a reason.
const REASON: usize = 1_000;

/// The arguments of a call.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Call {
    problem: String,
    strategy: Option<String>,
    /// Lower limits. A run that reaches one returns the best answer so far; a flow ends after the node that reached it.
    budget: Option<Lower>,
    /// An id for the session, which must not exist yet
    session_id: Option<SessionId>,
}

/// Limits that are lower than those of the server.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct Lower {
    #[schemars(range(min = 1, max = 100))]
    pub(super) calls: Option<u32>,
    #[schemars(range(min = 1, max = 500_000))]
    pub(super) tokens: Option<u64>,
    #[schemars(range(min = 1, max = 900))]
    seconds: Option<u64>,
}

impl Lower {
    pub(super) fn limits(&self) -> Limits {
        let seconds = self.seconds.unwrap_or(900);
        Limits::default()
            .with_calls(self.calls.unwrap_or(100))
            .with_tokens(self.tokens.unwrap_or(500_000))
            .with_thoughts(500)
            .with_time(Duration::from_secs(seconds))
    }

    /// Returns the limit that was reached, of those that were set.
    #[cfg(feature = "agents")]
    pub(super) fn reached(&self, spent: &Spent) -> Option<String> {
        let calls = self.calls.filter(|calls| spent.calls >= *calls);
        let tokens = self.tokens.filter(|tokens| spent.tokens() >= *tokens);

        let calls = calls.map(|calls| counted(calls, "call"));
        calls.or_else(|| tokens.map(|tokens| counted(tokens, "token")))
    }
}

/// Returns the tool.
pub(crate) fn tool(store: SessionStore, backend: Backend) -> ServerTool {
    let names = backend.methods();
    let names: Vec<_> = names.iter().map(|method| method.as_str()).collect();
    let mut tool = definition::<Call>(NAME, "Solve a problem", DESCRIPTION);
    set_keyword(&mut tool, "strategy", "enum", json!(names));
    if let Some(annotations) = &mut tool.annotations {
        annotations.open_world_hint = Some(true);
    }

    let arguments = Arguments::<Call>::new(&tool.input_schema, store.limits.argument_bytes);
    let backend = Arc::new(backend);
    let runs = Arc::new(Semaphore::new(RUNS));
    ServerTool::new(tool, move |given, caller| {
        let call = arguments.read(&given);
        let solver = Solve {
            store: store.clone(),
            backend: Arc::clone(&backend),
            runs: Arc::clone(&runs),
        };
        async move { solver.answer(call?, caller).await }
    })
}

struct Solve {
    store: SessionStore,
    backend: Arc<Backend>,
    runs: Arc<Semaphore>,
}

impl Solve {
    async fn answer(self, call: Call, caller: Caller) -> Result<CallToolResult, Failure> {
        let Call {
            problem,
            strategy,
            budget,
            session_id,
        } = call;
        if problem.trim().is_empty() {
            return Err(Failure::new("`problem` is empty; expected a text"));
        }
        let request = Request {
            problem,
            method: self.method(strategy)?,
            lower: budget.unwrap_or_default(),
        };

        // Refused rather than queued: a run takes minutes, in which the host would see nothing.
        let permit = self.runs.try_acquire_owned().map_err(|_| {
            Failure::new(format_args!(
                "{RUNS} runs are in progress, and at most {RUNS} can be; try again later"
            ))
        })?;
        let (progress, mut thoughts) = mpsc::unbounded_channel();
        let owner = &caller.connection.owner;
        let (problem, method) = (&request.problem, request.method.as_str());
        let watch = Watch::begin(&self.store, owner, session_id, problem, method, progress);
        // A session that exists is reported before anything is paid for.
        let watch = watch.await?;

        // A run that is cancelled, or whose caller is gone, still records its end.
        let token = CancellationToken::new();
        let _cancelling = token.clone().drop_guard();
        let run = run(self.backend, request, watch, token.clone());
        let finished = caller.connection.runs.spawn(async move {
            let result = run.await;
            drop(permit);
            result
        });
        let notified = async {
            while let Some((number, line)) = thoughts.recv().await {
                notify(&caller, number, line).await;
            }
        };
        tokio::select! {
            () = notified => {}
            () = caller.request.ct.cancelled() => token.cancel(),
        }

        finished
            .await
            .map_err(|_| Failure::new("the run was aborted"))
    }

    fn method(&self, name: Option<String>) -> Result<Method, Failure> {
        let methods = self.backend.methods();
        let Some(name) = name else {
            let default = methods.first().copied();
            return Ok(default.unwrap_or(Method::Loop));
        };

        let mut known = methods.iter();
        let found =
            known.find(|method| method.as_str() == name || Method::named(&name) == Some(**method));
        found.copied().ok_or_else(|| {
            let expected = NameList::or(methods.iter().map(|method| method.as_str()));
            Failure::new(format_args!(
                "`strategy`: found `{}`; expected {expected}",
                Name(&name)
            ))
        })
    }
}

/// Notifies the client of a thought, if it wants to know.
async fn notify(caller: &Caller, number: usize, line: String) {
    let Some(token) = caller.request.meta.get_progress_token() else {
        return;
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "the number of thoughts is far below 2^52"
    )]
    let notification = ProgressNotificationParam::new(token, number as f64).with_message(line);
    // A client that is gone cancels the request.
    let _ = caller.request.peer.notify_progress(notification).await;
}

async fn run(
    backend: Arc<Backend>,
    request: Request,
    mut watch: Watch,
    token: CancellationToken,
) -> CallToolResult {
    // However it ends, the end is recorded.
    let end = request.solve(&backend, &mut watch, &token).await;
    let unrecorded = watch.end(end.clone()).await;
    result_of(&end, &watch.id, watch.thoughts, watch.spent, unrecorded)
}

fn result_of(
    end: &SolveEnd,
    id: &SessionId,
    thoughts: usize,
    spent: Spent,
    unrecorded: Option<Failure>,
) -> CallToolResult {
    let reason = OneLine::new(&end.reason).with_max_chars(REASON);
    let thoughts = counted(thoughts, "thought");
    let warning = unrecorded.map_or_else(String::new, |missing| {
        format!(" Some of it isn't recorded: {missing}.")
    });
    let confidence = end.confidence.map_or_else(String::new, |confidence| {
        format!(" with confidence {confidence:.2}")
    });
    let place = format!(
        "{reason}{confidence}, after {thoughts} and {spent}. Session `{id}`: {}.{warning}",
        session_uri(id)
    );

    let has_failed = matches!(end.outcome, Status::Failed | Status::Cancelled);
    let answer = match (&end.answer, end.outcome) {
        (None, _) => "There is no answer.".to_owned(),
        (Some(answer), Status::Answered) => answer.clone(),
        (Some(answer), _) => format!("The best answer so far: {answer}"),
    };
    let mut result = text(&format!("{answer}\n\n({place})"));
    result.is_error = Some(has_failed);
    result
}
