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
async fn an_answer_must_match_the_schema_of_its_wait() {
    let Some(server) = server() else { return };
    let name = unique("Rates");
    let rate = Wait::for_event("rating", |log: &mut Log, rating: u64| {
        log.push(format!("{rating} stars"));
    });
    let flow = Flow::builder("rates")
        .wait(
            "rate",
            rate.with_schema(json!({"type": "integer", "maximum": 5})),
        )
        .chain(["rate"])
        .build()
        .unwrap();
    let workflow = Workflow::new(name.as_str(), flow).unwrap();
    let (_worker, client) = serve(&server, workflow, &name).await;

    client.start("a", &Log::new()).await.unwrap();
    until("the run waits", || async {
        let progress = client.progress("a").await.unwrap();
        progress.is_some_and(|progress| progress.waits_for.is_some())
    })
    .await;

    let error = client.deliver("a", "rating", &17).await.unwrap_err();
    insta::assert_snapshot!(error, @"the answer to `rating` doesn't match the schema of its wait: at '': must be <=5, but got 17 (status 422)");
    client.deliver("a", "rating", &4).await.unwrap();
    assert_eq!(client.attach::<Log>("a").await.unwrap(), ["4 stars"]);
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
