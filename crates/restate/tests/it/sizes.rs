//! Values that are too large are reported before Restate refuses them.

use cogwork_flow::{Action, Flow, Wait, from_phases};
use cogwork_restate::{Client, ClientError, DEFAULT_MAX_MESSAGE, Workflow};

use crate::support::server::server;
use crate::support::unique;
use crate::support::worker::{Worker, endpoint};

/// Three steps with outcomes of this size each, of which the state keeps the last, then a wait.
fn grows(size: usize) -> Flow<String> {
    let write = move || {
        from_phases(
            |_: &mut String| (),
            move |()| async move { Ok::<_, std::io::Error>("x".repeat(size)) },
            |text, _, written| *text = written,
        )
    };

    let wait = Wait::for_event("more", |text: &mut String, more: String| {
        text.push_str(&more)
    });
    Flow::builder("grows")
        .start("one")
        .node("one", write())
        .node("two", write())
        .node("three", write())
        .wait("wait", wait)
        .edge("one", Action::DEFAULT, "two")
        .edge("two", Action::DEFAULT, "three")
        .edge("three", Action::DEFAULT, "wait")
        .end("wait", Action::DEFAULT)
        .build()
        .unwrap()
}

async fn serve(flow: Flow<String>) -> Option<(Worker, Client)> {
    let server = server()?;
    let name = unique("Grows");
    let worker = Worker::start(endpoint(Workflow::new(name.as_str(), flow).unwrap()));
    server.register(worker.port).await;
    Some((worker, server.client(&name)))
}

#[tokio::test]
async fn what_is_within_the_limits_arrives() {
    let size = DEFAULT_MAX_MESSAGE - 100;
    let Some((_worker, client)) = serve(grows(size)).await else {
        return;
    };

    client.start("a", &"x".repeat(size)).await.unwrap();
    client.deliver("a", "more", &"!").await.unwrap();
    let text: String = client.attach("a").await.unwrap();
    assert_eq!(text.len(), size + 1);

    client.start("b", &"").await.unwrap();
    let error = client
        .deliver("b", "more", &"y".repeat(DEFAULT_MAX_MESSAGE))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the answer has 8388636 bytes; at most 8388608 are allowed"
    );
    client
        .deliver("b", "more", &"y".repeat(size))
        .await
        .unwrap();

    // Both are within the limits, but not together.
    let error = client.attach::<String>("b").await.unwrap_err();
    insta::assert_snapshot!(error, @"the final state has 16777018 bytes; at most 8388608 are allowed (status 413)");
}

#[tokio::test]
async fn an_outcome_that_is_too_large_fails_its_step() {
    let Some((_worker, client)) = serve(grows(DEFAULT_MAX_MESSAGE)).await else {
        return;
    };

    client.start("a", &"").await.unwrap();
    let error = client.attach::<String>("a").await.unwrap_err();
    insta::assert_snapshot!(error, @"flow `grows`, node `one`: exec failed: the outcome is larger than the 8388608 bytes that may be recorded (status 500)");
}

#[tokio::test]
async fn a_state_that_is_too_large_is_not_sent() {
    let client = Client::new("http://127.0.0.1:1", "Grows")
        .unwrap()
        .with_max_message(10);
    let error = client.start("a", &"x".repeat(9)).await.unwrap_err();
    insta::assert_snapshot!(error, @"the state has 11 bytes; at most 10 are allowed");
    assert!(matches!(
        error,
        ClientError::TooLarge {
            size: 11,
            max: 10,
            ..
        }
    ));
}

#[tokio::test]
async fn a_handler_checks_the_size_of_an_answer_as_well() {
    let Some(server) = server() else { return };
    let name = unique("Grows");
    let workflow = Workflow::new(name.as_str(), grows(1))
        .unwrap()
        .with_max_message(1_000);
    let worker = Worker::start(endpoint(workflow));
    server.register(worker.port).await;
    let client = server.client(&name);

    client.start("a", &"").await.unwrap();
    let error = client
        .deliver("a", "more", &"x".repeat(1_000))
        .await
        .unwrap_err();
    insta::assert_snapshot!(error, @"the answer has 1028 bytes; at most 1000 are allowed (status 413)");
    client.deliver("a", "more", &"x").await.unwrap();
    assert_eq!(client.attach::<String>("a").await.unwrap(), "xx");
}
