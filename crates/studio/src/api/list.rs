//! The list of runs.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use cogwork_journal::{RunQuery, RunStatus, RunSummary, StoreError};
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::Refusal;
use crate::shared::Shared;
use crate::totals::Totals;
use crate::view;

/// The number of runs on a page.
const PAGE: u32 = 50;

/// The number of runs whose events are read at the same time.
const READ_TOGETHER: usize = 4;

/// How many runs are searched at once.
const PART: u32 = 500;

/// How many of the newest runs are searched.
const SEARCHED_RUNS: u32 = 10_000;

/// The maximum length of a search, in bytes.
const MAX_SEARCH: usize = 1_000;

#[derive(Deserialize)]
pub(super) struct Listing {
    #[serde(default)]
    status: String,
    #[serde(default)]
    search: String,
    #[serde(default)]
    page: u32,
}

/// Runs, and whether there are more.
struct Found {
    runs: Vec<RunSummary>,
    has_more: bool,
}

pub(super) async fn runs(
    State(shared): State<Arc<Shared>>,
    listing: Result<Query<Listing>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(listing) = listing.map_err(|error| Refusal::bad_request(error.body_text()))?;
    if listing.search.len() > MAX_SEARCH {
        let message = format!("the search has more than {MAX_SEARCH} bytes; expected fewer");
        return Err(Refusal::bad_request(message));
    }

    let query = query(&listing.status)?;
    let found = if listing.search.trim().is_empty() && listing.status != "damaged" {
        page(&shared, query, listing.page).await?
    } else {
        search(&shared, query, &listing).await?
    };

    let totals = totals(&shared, &found.runs).await;
    let views = found.runs.iter().zip(totals).map(|(run, totals)| {
        let mut view = view::run(run);
        if let (Some(entries), Some(totals)) = (view.as_object_mut(), totals) {
            entries.insert("totals".to_owned(), json!(totals));
        }
        view
    });

    Ok(Json(json!({
        "runs": views.collect::<Vec<_>>(),
        "page": listing.page,
        "has_more": found.has_more,
    })))
}

fn query(status: &str) -> Result<RunQuery, Refusal> {
    let all = RunQuery::new();
    Ok(match status {
        "" | "damaged" => all,
        "open" => all.open(),
        "paused" => all.paused(),
        "failed" => all.failed(),
        "ended" => all.ended(),
        _ => {
            return Err(Refusal::bad_request(
                "there is no such status; expected open, paused, failed, ended or damaged",
            ));
        }
    })
}

/// Returns a page of the runs that match a query.
async fn page(shared: &Shared, query: RunQuery, page: u32) -> Result<Found, StoreError> {
    let offset = u64::from(page) * u64::from(PAGE);
    let query = query.limit(PAGE + 1).offset(offset);
    let mut runs = shared.store.query(query).await?;

    let has_more = runs.len() > PAGE as usize;
    runs.truncate(PAGE as usize);
    Ok(Found { runs, has_more })
}

/// Returns a page of the runs that contain a text, of the newest runs.
async fn search(shared: &Shared, query: RunQuery, listing: &Listing) -> Result<Found, StoreError> {
    let wanted = listing.search.trim().to_lowercase();
    let is_found = |run: &RunSummary| {
        let has_status = listing.status.is_empty() || view::status(&run.status) == listing.status;
        has_status && contains(run, &wanted)
    };

    let skipped = listing.page as usize * PAGE as usize;
    let wanted_runs = skipped + PAGE as usize + 1;
    let mut found = Vec::new();
    let mut searched = 0;

    while searched < SEARCHED_RUNS && found.len() < wanted_runs {
        let part = query.clone().limit(PART).offset(searched.into());
        let runs = shared.store.query(part).await?;
        let is_last = runs.len() < PART as usize;
        found.extend(runs.into_iter().filter(is_found));
        searched += PART;
        if is_last {
            break;
        }
    }

    let has_more = found.len() >= wanted_runs;
    let runs = found.into_iter().skip(skipped).take(PAGE as usize);
    Ok(Found {
        runs: runs.collect(),
        has_more,
    })
}

/// Returns whether a run contains a text in lower case.
fn contains(run: &RunSummary, wanted: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(wanted);

    has(&run.run_id)
        || has(&run.flow)
        || match &run.status {
            RunStatus::Paused { waits } => {
                waits.iter().any(|wait| has(&wait.event) || has(&wait.why))
            }
            RunStatus::Failed { error } | RunStatus::Damaged { error } => has(error),
            RunStatus::Ended { action, .. } => has(action),
            _ => false,
        }
}

/// Returns what the runs cost, for those with events.
async fn totals(shared: &Shared, runs: &[RunSummary]) -> Vec<Option<Totals>> {
    // Not an iterator: the compiler couldn't tell that its futures are `Send`.
    let mut totals = Vec::new();
    for run in runs {
        totals.push(shared.totals.update(&shared.store, run));
    }
    stream::iter(totals).buffered(READ_TOGETHER).collect().await
}
