//! The list of runs.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use cogwork_journal::{RunQuery, RunSummary, StoreError};
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Shared, View};
use crate::http::Refusal;
use crate::totals::Totals;
use crate::view;

/// The number of runs on a page.
const PAGE: u32 = 50;

/// The number of runs whose events are read at the same time.
const READ_TOGETHER: usize = 4;

/// How many runs are searched at once. The newest ones are also searched by inputs and answers.
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

impl Found {
    /// Returns the first page of these runs.
    fn page(mut runs: Vec<RunSummary>) -> Self {
        let has_more = runs.len() > PAGE as usize;
        runs.truncate(PAGE as usize);
        Self { runs, has_more }
    }
}

pub(super) async fn runs(
    State(shared): State<Arc<Shared>>,
    Extension(view): Extension<View>,
    listing: Result<Query<Listing>, QueryRejection>,
) -> Result<Json<Value>, Refusal> {
    let Query(listing) = listing?;
    if listing.search.len() > MAX_SEARCH {
        let message = format!("the search has more than {MAX_SEARCH} bytes; expected fewer");
        return Err(Refusal::bad_request(message));
    }

    let query = query(&listing.status)?;
    let found = find(&shared, query, &listing, view).await?;
    let totals = totals(&shared, &found.runs).await;
    let runs = found.runs.iter().zip(&totals);
    let runs: Vec<_> = runs
        .map(|(run, totals)| view::run(run, totals.as_ref(), view))
        .collect();

    Ok(Json(json!({
        "runs": runs,
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

/// Returns a page of the runs that match, of the newest ones if they are searched.
async fn find(
    shared: &Shared,
    query: RunQuery,
    listing: &Listing,
    view: View,
) -> Result<Found, StoreError> {
    let wanted = listing.search.trim().to_lowercase();
    let skipped = listing.page as usize * PAGE as usize;
    let is_searched = !wanted.is_empty() || listing.status == "damaged";
    if !is_searched {
        let query = query.limit(PAGE + 1).offset(skipped as u64);
        let runs = shared.runner.store().query(query).await?;
        return Ok(Found::page(runs));
    }

    let wanted_runs = skipped + PAGE as usize + 1;
    let mut found = Vec::new();
    let mut searched = 0;
    while searched < SEARCHED_RUNS && found.len() < wanted_runs {
        let part = query.clone().limit(PART).offset(searched.into());
        let mut runs = shared.runner.store().query(part).await?;
        let is_last = runs.len() < PART as usize;
        runs.retain(|run| listing.status.is_empty() || view::status(&run.status) == listing.status);

        let totals = match searched {
            0 => totals(shared, &runs).await,
            _ => vec![None; runs.len()],
        };
        let matching = runs.into_iter().zip(totals).filter(|(run, totals)| {
            let shown = view::run(run, totals.as_ref(), view);
            contains(&shown, &wanted)
        });
        found.extend(matching.map(|(run, _)| run));
        searched += PART;
        if is_last {
            break;
        }
    }
    Ok(Found::page(found.into_iter().skip(skipped).collect()))
}

/// The parts of a run that are searched, and those of what it waits for.
const SEARCHED: [&str; 7] = [
    "/id",
    "/flow",
    "/input",
    "/answer",
    "/error",
    "/ended/action",
    "/forked_from/run",
];
const SEARCHED_OF_WAITS: [&str; 2] = ["event", "why"];

/// Returns whether a run as it is shown contains a text in lower case.
fn contains(shown: &Value, wanted: &str) -> bool {
    let parts = SEARCHED.iter().filter_map(|part| shown.pointer(part));
    let waits = shown.get("waits").and_then(Value::as_array);
    let waits = waits.into_iter().flatten();
    let of_waits = waits.flat_map(|wait| SEARCHED_OF_WAITS.map(|part| wait.get(part)));

    let mut texts = parts.chain(of_waits.flatten()).filter_map(Value::as_str);
    texts.any(|text| text.to_lowercase().contains(wanted))
}

/// Returns what the runs cost, for those with events.
async fn totals(shared: &Shared, runs: &[RunSummary]) -> Vec<Option<Totals>> {
    // Not an iterator: the compiler couldn't tell that its futures are `Send`.
    let mut totals = Vec::new();
    for run in runs {
        totals.push(shared.totals.update(shared.runner.store(), run));
    }
    stream::iter(totals).buffered(READ_TOGETHER).collect().await
}
