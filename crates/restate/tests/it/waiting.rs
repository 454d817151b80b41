use std::time::{Duration, Instant};

use cogwork_flow::{Action, Flow, Wait, from_fn};
use cogwork_restate::{Client, Workflow};
use serde_json::json;

use crate::support::server::{Server, server};
use crate::support::worker::{Worker, endpoint};
use crate::support::{unique, until};

type Log = Vec<String>;

fn asks(limit: Option<Duration>) -> Flow<Log> {
    let ask = Wait::for_event("number", |log: &mut Log, answer: u64| {
        log.push(format!("answered {answer}"));
    });
    let ask = ask.with_reason(|log: &Log| format!("a number, after {} others", log.len()));
    let ask = match limit {
        Some(limit) => ask.with_timeout(limit),
        None => ask,
    };

    let again = from_fn(|log: &mut Log| {
        if log.len() < 3 {
            Action::from_static("again")
        } else {
            Action::DEFAULT
        }
    });
    let late = from_fn(|log: &mut Log| log.push("too late".to_owned()));

    let builder = Flow::builder("asks")
        .start("ask")
        .wait("ask", ask)
        .node("check", again.with_actions(["again", "default"]))
        .edge("ask", Action::DEFAULT, "check")
        .edge("check", "again", "ask")
        .end("check", Action::DEFAULT);
    let builder = match limit {
        Some(_) => builder
            .node("late", late)
            .edge("ask", Action::TIMED_OUT, "late")
            .edge("late", Action::DEFAULT, "check"),
        None => builder,
    };
    builder.build().unwrap()
}

async fn serve(server: &Server, workflow: Workflow<Log>, name: &str) -> (Worker, Client) {
    let worker = Worker::start(endpoint(workflow));
    server.register(worker.port).await;
    (worker, server.client(name))
}

async fn refused(client: &Client, key: &str) -> Option<String> {
    let progress = client.progress(key).await.unwrap()?;
    progress.waits_for?.refused
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_refused_and_another_is_used() {
    let Some(server) = server() else { return };
    let name = unique("Asks");
    let workflow = Workflow::new(name.as_str(), asks(Some(Duration::from_secs(60)))).unwrap();
    let (_worker, client) = serve(&server, workflow, &name).await;

    client.start("a", &Log::new()).await.unwrap();
    client.deliver("a", "number", &"seven").await.unwrap();
    until("an answer is refused", || async {
        refused(&client, "a").await.is_some()
    })
    .await;
    insta::assert_snapshot!(refused(&client, "a").await.unwrap(), @r#"the answer cannot be read: invalid type: string "seven", expected u64 at line 1 column 7"#);

    let waits_for = client.progress("a").await.unwrap().unwrap().waits_for;
    let waits_for = waits_for.unwrap();
    assert_eq!(waits_for.event, "number");
    assert_eq!(waits_for.why, "a number, after 0 others");
    assert_eq!(waits_for.within_ms, Some(60_000));

    for answer in [json!(7), json!([1]), json!(8), json!(9)] {
        client.deliver("a", "number", &answer).await.unwrap();
    }
    let log: Log = client.attach("a").await.unwrap();
    assert_eq!(log, ["answered 7", "answered 8", "answered 9"]);
}

#[tokio::test]
async fn a_wait_times_out_even_after_a_refused_answer() {
    let Some(server) = server() else { return };
    let name = unique("Asks");
    let workflow = Workflow::new(name.as_str(), asks(Some(Duration::from_secs(2)))).unwrap();
    let (_worker, client) = serve(&server, workflow, &name).await;

    let began = Instant::now();
    client
        .start("a", &vec!["one".to_owned(), "two".to_owned()])
        .await
        .unwrap();
    client.deliver("a", "number", &"seven").await.unwrap();

    let log: Log = client.attach("a").await.unwrap();
    assert_eq!(log, ["one", "two", "too late"]);
    assert!(began.elapsed() >= Duration::from_secs(2));
}

#[tokio::test]
async fn an_answer_after_a_timeout_is_for_the_next_wait() {
    let Some(server) = server() else { return };
    let name = unique("Asks");
    let workflow = Workflow::new(name.as_str(), asks(Some(Duration::from_secs(1)))).unwrap();
    let (_worker, client) = serve(&server, workflow, &name).await;

    client.start("a", &Log::new()).await.unwrap();
    until("a wait has timed out", || async {
        let progress = client.progress("a").await.unwrap();
        progress.is_some_and(|progress| progress.steps >= 2)
    })
    .await;
    client.deliver("a", "number", &7).await.unwrap();

    let log: Log = client.attach("a").await.unwrap();
    assert!(log.contains(&"answered 7".to_owned()), "{log:?}");
}

#[tokio::test]
async fn many_answers_at_once_are_each_used_once() {
    let Some(server) = server() else { return };
    let name = unique("Collects");
    let collect = Wait::for_event("number", |sum: &mut Vec<u64>, answer: u64| {
        sum.push(answer);
        if sum.len() < 20 {
            Action::from_static("again")
        } else {
            Action::DEFAULT
        }
    });
    let flow = Flow::builder("collects")
        .start("collect")
        .wait("collect", collect.with_actions(["again", "default"]))
        .edge("collect", "again", "collect")
        .end("collect", Action::DEFAULT)
        .build()
        .unwrap();
    let worker = Worker::start(endpoint(Workflow::new(name.as_str(), flow).unwrap()));
    server.register(worker.port).await;
    let client = server.client(&name);

    client.start("a", &Vec::<u64>::new()).await.unwrap();
    let deliveries = (0..20u64).map(|answer| {
        let client = &client;
        async move { client.deliver("a", "number", &answer).await.unwrap() }
    });
    futures_util::future::join_all(deliveries).await;

    let mut answers: Vec<u64> = client.attach("a").await.unwrap();
    answers.sort_unstable();
    assert_eq!(answers, (0..20).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_answer_to_an_unknown_event_is_refused() {
    let Some(server) = server() else { return };
    let name = unique("Asks");
    let (_worker, client) = serve(
        &server,
        Workflow::new(name.as_str(), asks(None)).unwrap(),
        &name,
    )
    .await;

    client.start("a", &Log::new()).await.unwrap();
    let error = client.deliver("a", "numbr\u{1b}", &7).await.unwrap_err();
    insta::assert_snapshot!(error, @r"no node waits for the event `numbr\u{1b}`; the run waits for `number` (status 404)");

    for answer in 1..=3 {
        client.deliver("a", "number", &answer).await.unwrap();
    }
    client.attach::<Log>("a").await.unwrap();
    let error = client.deliver("a", "number", &7).await.unwrap_err();
    insta::assert_snapshot!(error, @"the run has ended, so it takes no more answers (status 410)");
}

#[tokio::test]
async fn a_deadline_ends_a_run_that_waits() {
    let Some(server) = server() else { return };
    let name = unique("Asks");
    let workflow = Workflow::new(name.as_str(), asks(None))
        .unwrap()
        .with_deadline(Duration::from_secs(2));
    let (worker, client) = serve(&server, workflow.clone(), &name).await;

    let began = Instant::now();
    client.start("a", &Log::new()).await.unwrap();
    client.deliver("a", "number", &7).await.unwrap();
    until("the answer is used", || async {
        let progress = client.progress("a").await.unwrap();
        progress.is_some_and(|progress| progress.steps >= 2)
    })
    .await;

    // The deadline is counted from the first attempt.
    let port = worker.port;
    worker.kill();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let _worker = Worker::start_at(port, endpoint(workflow));

    let error = client.attach::<Log>("a").await.unwrap_err();
    assert!(error.is_deadline(), "{error}");
    insta::assert_snapshot!(error, @"flow `asks`, node `ask`: the run reached its deadline at this node (status 408)");
    let took = began.elapsed();
    assert!(
        took >= Duration::from_secs(2) && took < Duration::from_secs(10),
        "{took:?}"
    );

    let progress = client.progress("a").await.unwrap().unwrap();
    assert!(progress.failed.is_some(), "{progress:?}");
}

#[tokio::test]
async fn a_sleep_ends_when_it_would_have_ended() {
    let Some(server) = server() else { return };
    let name = unique("Sleeps");
    let flow = || {
        Flow::builder("sleeps")
            .start("sleep")
            .sleep("sleep", |_: &u32| Duration::from_secs(3))
            .end("sleep", Action::DEFAULT)
            .build()
            .unwrap()
    };
    let workflow = || Workflow::new(name.as_str(), flow()).unwrap();
    let worker = Worker::start(endpoint(workflow()));
    server.register(worker.port).await;
    let client = server.client(&name);

    let began = Instant::now();
    client.start("a", &1).await.unwrap();
    until("the run sleeps", || async {
        client.progress("a").await.unwrap().is_some()
    })
    .await;
    let port = worker.port;
    worker.kill();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let _worker = Worker::start_at(port, endpoint(workflow()));

    assert_eq!(client.attach::<u32>("a").await.unwrap(), 1);
    let took = began.elapsed();
    assert!(
        took >= Duration::from_millis(2_900) && took < Duration::from_secs(5),
        "{took:?}"
    );
}
