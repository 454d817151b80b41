//! The studio over PostgreSQL, as over other stores. Needs a server:
//! `eval "$(scripts/local-postgres start)"`.

use cogwork_journal::{PostgresStore, Store};
use cogwork_studio::Runner;
use serde_json::{Value, json};

use super::client::{Served, lines};
use super::flows::{rating, shut_down_while_busy};
use super::runs::{asking, fail, pause};

/// The variable with the connection string of a server where the tests may create schemas.
const VARIABLE: &str = "COGWORK_TEST_POSTGRES";

/// Returns a store in a schema of its own. `None` without a server.
fn store(name: &str) -> Option<Store> {
    let Ok(url) = std::env::var(VARIABLE) else {
        eprintln!("skipped, because {VARIABLE} isn't set");
        return None;
    };
    let schema = format!("studio_{name}_{}", std::process::id());
    let store = PostgresStore::new(&url).unwrap().with_schema(schema);
    Some(store.into())
}

async fn served(store: &Store) -> Served {
    Served::new(Runner::new(store.clone(), rating())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_listed_and_shown() {
    let Some(store) = store("list") else { return };
    let studio = served(&store).await;
    assert_eq!(studio.get("/api/runs").await.json()["runs"], json!([]));

    pause(&store, "a „tale“ / 1", "a tale").await;
    fail(&store, "b").await;
    let listed = studio.get("/api/runs").await.json();
    let runs = listed["runs"].as_array().unwrap();
    let ids: Vec<&str> = runs.iter().map(|run| run["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["b", "a „tale“ / 1"]);

    for (query, found) in [("status=failed", 1), ("search=RATING", 1), ("search=x", 0)] {
        let listed = studio.get(&format!("/api/runs?{query}")).await.json();
        assert_eq!(listed["runs"].as_array().unwrap().len(), found, "{query}");
    }

    let id = "a+%E2%80%9Etale%E2%80%9C+/+1";
    let run = studio.get(&format!("/api/run?id={id}")).await.json();
    assert_eq!(run["run"]["status"], "paused");
    let mut watching = studio.watch(&format!("/api/run/events?id={id}"), "").await;
    let text = watching.until("event: current").await;
    let types: Vec<Value> = lines(&text)
        .iter()
        .map(|line| line["type"].clone())
        .collect();
    assert!(types.contains(&json!("paused")), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_answered_and_forked() {
    let Some(store) = store("fork") else { return };
    let studio = served(&store).await;
    pause(&store, "a", "a tale").await;

    let journal = store.resume("a", &asking()).await.unwrap();
    let body = |stars: u32| json!({"id": "a", "step": "rate/ask#2", "event": "rating", "answer": {"stars": stars}});
    assert_eq!(studio.post("/api/run/answers", &body(9)).await.status, 422);
    drop(journal);
    while store.is_in_use("a").await.unwrap() {
        tokio::task::yield_now().await;
    }

    let delivered = studio.post("/api/run/answers", &body(5)).await;
    assert_eq!(delivered.status, 200, "{delivered:?}");
    assert_eq!(delivered.json()["resumed"], true, "{delivered:?}");
    assert_eq!(studio.post("/api/run/answers", &body(1)).await.status, 409);

    let fork = json!({"id": "a", "at": 2});
    let forked = studio.post("/api/run/forks", &fork).await;
    assert_eq!(forked.json()["run"], "a fork 1", "{forked:?}");
    let shown = studio.until("a+fork+1", "paused").await;
    assert_eq!(shown["run"]["forked_from"], json!({"run": "a", "step": 2}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_shuts_down_gives_its_leases_back() {
    let Some(store) = store("shut") else { return };
    shut_down_while_busy(store).await;
}
