//! The list of runs.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use cogwork_journal::RunQuery;
use serde::Deserialize;
use serde_json::{Value, json};

use super::extract::Params;
use super::{Shared, View};
use crate::http::Refusal;
use crate::view;

/// The number of runs on a page.
const PAGE: u32 = 50;

/// How many of the newest runs are searched.
const SEARCHED_RUNS: u32 = 1_000;

#[derive(Deserialize)]
pub(super) struct Listing {
    #[serde(default)]
    status: String,
    #[serde(default)]
    search: String,
    #[serde(default)]
    page: u32,
}

pub(super) async fn runs(
    State(shared): State<Arc<Shared>>,
    Extension(view): Extension<View>,
    Params(listing): Params<Listing>,
) -> Result<Json<Value>, Refusal> {
    let query = query(&listing.status)?;
    let wanted = listing.search.trim().to_lowercase();
    let skipped = listing.page.saturating_mul(PAGE);
    // The store has no query for damaged runs.
    let is_searched = !wanted.is_empty() || listing.status == "damaged";
    let query = if is_searched {
        query.limit(SEARCHED_RUNS)
    } else {
        // One more than is shown, to know whether another page follows.
        query.limit(PAGE + 1).offset(skipped.into())
    };

    let store = shared.runner.store();
    let mut runs = Vec::new();
    for run in store.query(query).await? {
        let totals = shared.totals.update(store, &run).await;
        runs.push(view::run(&run, totals.as_ref(), view));
    }
    if is_searched {
        runs.retain(|run| has_status(run, &listing.status) && contains(run, &wanted));
        runs.drain(..runs.len().min(skipped as usize));
    }

    let has_more = runs.len() > PAGE as usize;
    runs.truncate(PAGE as usize);
    Ok(Json(json!({
        "runs": runs.iter().map(view::in_list).collect::<Value>(),
        "page": listing.page,
        "has_more": has_more,
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

fn has_status(shown: &Value, status: &str) -> bool {
    status.is_empty() || shown.get("status").is_some_and(|shown| shown == status)
}

/// The parts of a run that are searched, and those of what it waits for.
const SEARCHED: [&str; 6] = [
    "/id",
    "/flow",
    "/input",
    "/answer",
    "/error",
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
