//! Answers to runs that wait.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::{Branches, Flow, Wait, from_exec_with, from_fn};
use cogwork_journal::Store;
use cogwork_studio::{Runner, ServedFlow};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::client::{Answer, Served};
use super::flows::rating;
use super::runs::{asking, at, pause, paused, places};

async fn answer(studio: &Served, answer: Value) -> Answer {
    let body = json!({"id": "a", "step": "rate/ask#2", "event": "rating", "answer": answer});
    studio.post("/api/run/answers", &body).await
}

#[tokio::test]
async fn an_answer_reaches_a_folder_and_a_database() {
    let (_folder, places) = places();
    for place in places {
        an_answer_is_delivered(&place).await;
    }
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
        let expected = "doesn't match the schema of its wait";
        assert!(refused.error().contains(expected), "{refused:?}");
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

#[tokio::test(flavor = "multi_thread")]
async fn of_many_people_who_answer_at_once_one_succeeds() {
    let (folder, _) = paused().await;
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

#[tokio::test(flavor = "multi_thread")]
async fn of_many_processes_that_are_answered_at_once_one_succeeds() {
    let (_folder, places) = places();
    for place in places {
        pause(&at(&place), "a", "a tale").await;
        let runners = [(); 3].map(|()| Runner::new(at(&place), rating()));
        let stars = json!({"stars": 4});
        let answers = runners.iter().map(|runner| {
            let step = Some("rate/ask#2");
            runner.answer("a", "rating", step, &stars)
        });
        let answers = join_all(answers).await;
        let accepted = answers.iter().filter(|answer| answer.is_ok());
        assert_eq!(accepted.count(), 1, "{answers:?}");
    }
}

#[tokio::test]
async fn after_an_answer_that_it_cannot_read_a_run_waits_for_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let wait = Wait::for_event("ok", |said: &mut String, yes: bool| {
        said.push_str(&yes.to_string())
    });
    let flow = Flow::builder("ask").wait("ask", wait).chain(["ask"]);
    let flow = flow.build().unwrap();
    let flow = ServedFlow::new(flow, |_| Ok(String::new()), |said| Some(said.clone()));
    let studio = Served::with_flows(folder.path(), vec![flow]).await;
    let body = json!({"flow": "ask", "id": "a"});
    studio.post("/api/runs", &body).await;
    studio.until("a", "paused").await;

    let mut body = json!({"id": "a", "event": "ok", "step": "ask/ask#1", "answer": "yes please"});
    let given = studio.post("/api/run/answers", &body).await;
    assert_eq!(given.status, 200, "{given:?}");
    // The answer was used before the run waits again.
    let store = at(folder.path());
    while store.runs().await.unwrap()[0].entries < 6 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let shown = studio.until("a", "paused").await;
    assert_eq!(shown["run"]["waits"][0]["event"], "ok", "{shown}");

    body["answer"] = json!(true);
    let given = studio.post("/api/run/answers", &body).await;
    assert_eq!(given.status, 200, "{given:?}");
    let ended = studio.until("a", "ended").await;
    assert_eq!(ended["run"]["answer"], "true");
}

#[tokio::test]
async fn an_answer_to_a_flow_that_has_changed_is_kept() {
    let (folder, store) = paused().await;
    let changed = Flow::builder("rate")
        .node("draft", from_fn(|_: &mut String| ()))
        .chain(["draft"])
        .build()
        .unwrap();
    let flow = ServedFlow::new(changed, |_| Ok(String::new()), |_| None);
    let runner = Runner::new(at(folder.path()), vec![flow]);

    let stars = json!({"stars": 4});
    let why_not = runner.answer("a", "rating", None, &stars);
    let why_not = why_not.await.unwrap().unwrap().to_string();
    assert!(why_not.contains("has changed"), "{why_not}");
    let refused = runner.answer("a", "rating", None, &stars);
    refused.await.unwrap_err();
    assert_eq!(store.runs().await.unwrap()[0].status.to_string(), "open");

    runner.cancel("a").await.unwrap();
    let cancelled = store.runs().await.unwrap()[0].status.to_string();
    assert_eq!(cancelled, "failed: the run was cancelled");
}

#[tokio::test]
async fn a_run_in_use_is_not_answered() {
    let (folder, store) = paused().await;
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
    let (folder, _) = paused().await;
    let studio = Served::over(folder.path()).await;

    let asked = json!({
        "id": "a", "step": "rate/ask#2", "event": "rating", "answer": {"stars": 5},
    });
    for (field, value, status) in [
        ("step", json!("rate/ask#9"), 409),
        ("event", json!("other"), 409),
        ("id", json!("b"), 404),
        ("id", json!(null), 400),
        ("x", json!(1), 400),
    ] {
        let mut body = asked.clone();
        body[field] = value;
        let refused = studio.post("/api/run/answers", &body).await;
        assert_eq!(refused.status, status, "{body} {refused:?}");
    }
    let refused = studio.post("/api/run/answers", &json!([])).await;
    assert_eq!(refused.status, 400);
}

/// Two branches that ask for the same, with a key for each or without, and then work for so long.
fn asking_twice(has_keys: bool, work: Duration) -> Flow<String> {
    let branch = |name: &'static str| {
        let wait = Wait::for_event("ok", |said: &mut String, answer: String| {
            said.push_str(&answer)
        });
        let wait = match has_keys {
            true => wait.with_key(move |_| name.to_owned()),
            false => wait,
        };
        let work = from_exec_with(work, async |work, said: String| {
            tokio::time::sleep(work).await;
            Ok::<_, std::io::Error>(said)
        });
        let flow = Flow::builder(name).wait("ask", wait);
        let flow = flow.node("work", work).chain(["ask", "work"]);
        flow.build().unwrap()
    };
    let join = |all: &mut String, one: String| all.push_str(&format!(" {one}"));
    let branches = Branches::new()
        .branch("x", branch("x"), |_| "x: ".to_owned(), join)
        .branch("y", branch("y"), |_| "y: ".to_owned(), join);
    let flow = Flow::builder("twice")
        .start("both")
        .branches("both", branches);
    flow.end("both", "default").build().unwrap()
}

/// Continues the run until it ends or waits. Returns its state if it has ended.
async fn go_on(store: &Store, flow: &Flow<String>) -> Option<String> {
    let input = String::new();
    let journal = store.start_or_resume("a", flow, &input).await.unwrap();
    let mut state: String = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut state).await.ok().map(|_| state)
}

#[tokio::test]
async fn an_answer_reaches_the_step_that_asked() {
    for has_keys in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let store = at(folder.path());
        let flow = asking_twice(has_keys, Duration::ZERO);
        assert_eq!(go_on(&store, &flow).await, None);
        let studio = Served::over(folder.path()).await;
        let run = studio.get("/api/run?id=a").await.json();
        let waits = run["run"]["waits"].as_array().unwrap();

        let mut end = None;
        for (wait, said) in waits.iter().rev().zip(["second", "first"]) {
            let (step, event) = (&wait["step"], &wait["event"]);
            let body = json!({"id": "a", "step": step, "event": event, "answer": said});
            let given = studio.post("/api/run/answers", &body).await;
            if has_keys {
                assert_eq!(given.status, 200, "{given:?}");
                end = go_on(&store, &flow).await;
            } else {
                assert!(
                    given.error().contains("any of them would take"),
                    "{given:?}"
                );
            }
        }
        let expected = has_keys.then(|| " x: first y: second".to_owned());
        assert_eq!(end, expected);
    }
}

/// Two steps that wait at the same time, each for an event of its own.
#[tokio::test]
async fn the_rest_of_several_questions_stays_answerable() {
    let (_folder, places) = places();
    for place in places {
        let store = at(&place);
        let flow = asking_twice(true, Duration::ZERO);
        assert_eq!(go_on(&store, &flow).await, None);
        let studio = Served::over(&place).await;

        for (event, others) in [("ok x", vec!["ok y"]), ("ok y", vec![])] {
            let body = json!({"id": "a", "event": event, "answer": event});
            let given = studio.post("/api/run/answers", &body).await;
            assert_eq!(given.status, 200, "{given:?}");
            let again = studio.post("/api/run/answers", &body).await;
            assert_eq!(again.status, 409, "{again:?}");

            let shown = studio.get("/api/run?id=a").await.json();
            let waits = shown["run"]["waits"].as_array().into_iter().flatten();
            let waits: Vec<_> = waits.map(|wait| wait["event"].clone()).collect();
            assert_eq!(waits, others);
        }
        let end = go_on(&store, &flow).await;
        assert_eq!(end.as_deref(), Some(" x: ok x y: ok y"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_to_different_questions_at_the_same_time_are_both_taken() {
    let (_folder, places) = places();
    for place in places {
        let flow = asking_twice(true, Duration::from_millis(400));
        assert_eq!(go_on(&at(&place), &flow).await, None);
        let flow = ServedFlow::new(flow, |_| Ok(String::new()), |said| Some(said.clone()));
        let studio = Served::with_flows(&place, vec![flow]).await;

        let answers = ["ok x", "ok y"].map(|event| {
            let body = json!({"id": "a", "event": event, "answer": event});
            let studio = &studio;
            async move { studio.post("/api/run/answers", &body).await }
        });
        for given in join_all(answers).await {
            assert_eq!(given.status, 200, "{given:?}");
            assert_eq!(given.json()["resumed"], true, "{given:?}");
        }
        let ended = studio.until("a", "ended").await;
        assert_eq!(ended["run"]["answer"], " x: ok x y: ok y");
    }
}

#[tokio::test]
async fn a_run_needs_an_id_that_stores_can_keep() {
    let folder = tempfile::tempdir().unwrap();
    let studio = Served::with_flows(folder.path(), rating()).await;
    for id in ["", "a\0"] {
        let body = json!({"flow": "rate", "input": "a tale", "id": id});
        let refused = studio.post("/api/runs", &body).await;
        assert_eq!(refused.status, 422, "{refused:?}");
    }
    assert_eq!(studio.get("/api/run?id=a%00").await.status, 404);
}
