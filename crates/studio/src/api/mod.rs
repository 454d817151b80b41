//! Runs over HTTP.

mod answer;
mod entries;
mod extract;
mod list;
mod live;
mod run;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::request::Parts;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::sync::Semaphore;

use cogwork_trace::{Header, LeftOut};

use crate::Runner;
use crate::http::Refusal;
use crate::totals::TotalsCache;

/// What a client of the [`api`] may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum View {
    /// How far runs are, what they wait for, and their answers. Runs can be started, answered,
    /// resumed and cancelled.
    Public,
    /// Also what was said: inputs, prompts, replies, errors and costs. Runs can be forked.
    Full,
}

/// The maximum number of clients that follow events.
const STREAMS: usize = 1_000;

/// The maximum length of the body of a request, in bytes.
const MAX_BODY: usize = 1 << 20;

/// Returns an API over the flows and runs of a runner, for a program's own server. `view` decides what
/// the client of a request may see: nothing (`None`), or a [`View`]. It can depend on the method, the
/// path and the headers.
///
/// Bodies and answers are JSON. A refused request is answered with `{"error": …}`.
///
/// | request | what it does |
/// |---|---|
/// | `GET /flows` | lists the flows |
/// | `POST /runs` `{"flow", "input", "id"?}` | starts a run, once for each id: the same request again is answered in the same way, another flow or input is refused with 409 |
/// | `GET /runs?status=&search=&page=` | lists runs, the newest first |
/// | `GET /run?id=` | returns one |
/// | `GET /run/events?id=` | follows it, by server-sent events |
/// | `POST /run/answers` `{"id", "event", "answer", "step"?}` | answers what it waits for |
/// | `POST /run/resume` `{"id"}` | resumes it |
/// | `POST /run/cancel` `{"id"}` | cancels it |
/// | `POST /run/forks` `{"id", "at"}` | starts a run with its steps before this one |
///
/// Each event has an id, and a client that connects again with the header `Last-Event-ID`, as browsers do,
/// gets those after it: each once, and in order, also if the server was killed in between. Those of the
/// public view come from the outcomes on record: `phase_finished` with the `step`, `paused` with what a
/// run waits for, `failed`, and at last `ended` with the `answer`. The full view has what the run
/// [recorded](cogwork_trace::RunRecorder).
pub fn api<V>(runner: Runner, view: V) -> Router
where
    V: Fn(&Parts) -> Option<View> + Clone + Send + Sync + 'static,
{
    routes(Shared::new(runner, STREAMS), view)
}

pub(crate) fn routes<V>(shared: Shared, view: V) -> Router
where
    V: Fn(&Parts) -> Option<View> + Clone + Send + Sync + 'static,
{
    Router::new()
        .route("/flows", get(run::flows))
        .route("/runs", get(list::runs).post(run::start))
        .route("/run", get(run::run))
        .route("/run/events", get(live::events))
        .route("/run/answers", post(answer::deliver))
        .route("/run/resume", post(run::resume))
        .route("/run/cancel", post(run::cancel))
        .route("/run/forks", post(run::fork))
        .method_not_allowed_fallback(Refusal::wrong_method)
        .with_state(Arc::new(shared))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(view, permit::<V>))
}

/// Passes on what the client may see.
async fn permit<V>(State(view): State<V>, request: Request, next: Next) -> Response
where
    V: Fn(&Parts) -> Option<View> + Clone + Send + Sync + 'static,
{
    let (mut parts, body) = request.into_parts();
    let Some(view) = view(&parts) else {
        return Refusal::forbidden("this client may not see the runs").into_response();
    };
    parts.extensions.insert(view);
    next.run(Request::from_parts(parts, body)).await
}

/// What all requests share.
pub(crate) struct Shared {
    runner: Runner,
    totals: TotalsCache,
    /// A place for each client that follows events.
    streams: Arc<Semaphore>,
}

impl Shared {
    pub(crate) fn new(runner: Runner, streams: usize) -> Self {
        Self {
            runner,
            totals: TotalsCache::default(),
            streams: Arc::new(Semaphore::new(streams)),
        }
    }

    /// Returns whether the events of a run are recorded.
    async fn has_events(&self, run_id: &str) -> bool {
        let events = self.runner.store().events(run_id, 0).await;
        let events = events.unwrap_or_default();
        let Some(first) = events.first() else {
            // The first events of a run that is executed here are still to be written.
            return self.runner.is_running(run_id);
        };

        let header = Header::from_json(&first.json);
        header.is_none_or(|header| header.left_out < Some(LeftOut::Events))
    }
}
