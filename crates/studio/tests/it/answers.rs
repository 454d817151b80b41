//! Answers to runs that wait.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::client::{Answer, Served};
use super::runs::{asking, at, pause};

async fn answer(studio: &Served, answer: Value) -> Answer {
    let body = json!({"id": "a", "step": "rate/ask#2", "event": "rating", "answer": answer});
    studio.post("/api/run/answers", &body).await
}

async fn an_answer_is_delivered(place: &Path) {
    let store = at(place);
    pause(&store, "a", "a tale").await;
    let studio = Served::over(place).await;

    for wrong in [
        json!({}),
        json!({"stars": 6}),
        json!({"stars": "5"}),
        json!(5),
        json!(null),
    ] {
        let refused = answer(&studio, wrong.clone()).await;
        assert_eq!(refused.status, 422, "{wrong}");
        assert!(
            refused
                .error()
                .contains("doesn't match the schema of its wait"),
            "{refused:?}"
        );
    }

    let delivered = answer(&studio, json!({"stars": 5})).await;
    assert_eq!(delivered.status, 200, "{delivered:?}");
    assert_eq!(delivered.json()["delivered"], true);
    assert_eq!(delivered.json()["resumed"], false);

    let again = answer(&studio, json!({"stars": 1})).await;
    assert_eq!(again.status, 409, "{again:?}");

    let flow = asking();
    let journal = store.resume("a", &flow).await.unwrap();
    let mut state: String = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut state).await.unwrap();
    assert_eq!(state, r#"{"stars":5}"#);
}

#[tokio::test]
async fn an_answer_reaches_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    an_answer_is_delivered(folder.path()).await;
}

#[tokio::test]
async fn an_answer_reaches_a_database() {
    let folder = tempfile::tempdir().unwrap();
    an_answer_is_delivered(&folder.path().join("runs.db")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_people_who_answer_at_once_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    pause(&at(folder.path()), "a", "a tale").await;
    let studio = Arc::new(Served::over(folder.path()).await);

    let people = (1..=5).map(|stars| {
        let studio = Arc::clone(&studio);
        tokio::spawn(async move { answer(&studio, json!({"stars": stars})).await.status })
    });
    let mut statuses = Vec::new();
    for person in people.collect::<Vec<_>>() {
        statuses.push(person.await.unwrap());
    }

    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409, 409]);
}

#[tokio::test]
async fn a_run_in_use_is_not_answered() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    pause(&store, "a", "a tale").await;
    let studio = Served::over(folder.path()).await;

    let journal = store.resume("a", &asking()).await.unwrap();
    let refused = answer(&studio, json!({"stars": 5})).await;
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.error().contains("use"), "{refused:?}");

    drop(journal);
    assert_eq!(answer(&studio, json!({"stars": 5})).await.status, 200);
}

#[tokio::test]
async fn only_the_question_that_was_shown_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    pause(&at(folder.path()), "a", "a tale").await;
    let studio = Served::over(folder.path()).await;

    let ok = json!({"stars": 5});
    let others = [
        (
            json!({"id": "a", "step": "rate/ask#9", "event": "rating", "answer": ok}),
            409,
        ),
        (
            json!({"id": "a", "step": "rate/ask#2", "event": "other", "answer": ok}),
            409,
        ),
        (
            json!({"id": "b", "step": "rate/ask#2", "event": "rating", "answer": ok}),
            404,
        ),
        (json!({"run": "a", "event": "rating", "answer": ok}), 400),
        (
            json!({"id": "a", "step": "rate/ask#2", "event": "rating", "answer": ok, "x": 1}),
            400,
        ),
        (json!([]), 400),
    ];
    for (body, status) in others {
        let refused = studio.post("/api/run/answers", &body).await;
        assert_eq!(refused.status, status, "{body} {refused:?}");
    }
}
