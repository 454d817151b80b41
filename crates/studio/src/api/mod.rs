//! The calls of the page.

mod answer;
mod body;
mod fork;
mod journal_events;
mod list;
mod live;
mod run;
mod start;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::shared::Shared;

pub(crate) fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/api/runs", get(list::runs).post(start::start))
        .route("/api/run", get(run::run))
        .route("/api/run/events", get(live::events))
        .route("/api/run/answers", post(answer::deliver))
        .route("/api/run/resume", post(start::resume))
        .route("/api/run/forks", get(fork::choices).post(fork::fork))
        .route("/api/flows", get(start::flows))
        .with_state(shared)
}
