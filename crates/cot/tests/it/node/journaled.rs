//! The node in a run on record: taken up in the middle, it asks the model for nothing twice.

use std::pin::pin;
use std::time::Duration;

use cogwork_cot::{ChainOfThought, Reasoning};
use cogwork_flow::{Flow, Node, RunError, from_fn};
use cogwork_journal::Store;
use cogwork_llm::{LlmClient, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply};
use serde::{Deserialize, Serialize};

use crate::node::support::{FIRST, LAST, PROSE, SECOND, poll_times, reasoning};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct App {
    question: Reasoning,
    answer: Option<String>,
}

fn app() -> App {
    App {
        question: reasoning(),
        answer: None,
    }
}

fn flow(client: impl LlmClient + 'static) -> Flow<App> {
    let think = ChainOfThought::new(client).focus(|app: &mut App| &mut app.question);
    let report = |app: &mut App| app.answer = app.question.answer().map(ToOwned::to_owned);
    Flow::builder("app")
        .start("think")
        .node("think", think)
        .node("report", from_fn(report))
        .edge("think", ChainOfThought::CONTINUE, "think")
        .edge("think", ChainOfThought::END, "report")
        .end("report", "default")
        .build()
        .unwrap()
}

/// What a program does that is started again: it begins the run or takes it up, whichever is due.
async fn program(store: &Store, client: impl LlmClient + 'static) -> Result<App, RunError> {
    let flow = flow(client);
    let journal = store.start_or_resume("r", &flow, &app()).await.unwrap();
    let mut app = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut app).await.map(|_| app)
}

#[tokio::test]
async fn a_run_taken_up_in_the_middle_makes_each_request_once() {
    let undisturbed = ScriptedClient::new([PROSE, FIRST, SECOND, LAST]);
    let mut expected = app();
    flow(undisturbed.clone()).run(&mut expected).await.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let mut requests = Vec::new();

    // The reply of each last request never comes: there the process ends.
    for (replies, answered) in [(vec![PROSE, FIRST], 2), (vec![SECOND], 1)] {
        let hung = ScriptedReply::from("").after(Duration::MAX);
        let client = ScriptedClient::new(replies).then(hung);
        {
            let mut running = pin!(program(&store, client.clone()));
            while client.requests().len() <= answered {
                assert!(poll_times(running.as_mut(), 1).await.is_none());
                tokio::task::yield_now().await;
            }
        }
        requests.extend(client.requests().into_iter().take(answered));
    }

    let client = ScriptedClient::new([LAST]);
    let app = program(&store, client.clone()).await.unwrap();
    requests.extend(client.requests());
    assert_eq!(requests, undisturbed.requests());

    // Times differ; what was thought does not.
    let thinking = |app: &App| -> Vec<_> {
        let thoughts = app.question.thoughts().iter();
        thoughts
            .map(|thought| thought.current_thinking.to_owned())
            .collect()
    };
    assert_eq!(thinking(&app), thinking(&expected));
    assert_eq!(app.answer, expected.answer);

    // At its end it asks nothing at all, and is the same to the last field.
    let client = ScriptedClient::default();
    assert_eq!(program(&store, client.clone()).await.unwrap(), app);
    assert_eq!(client.requests(), []);
}

#[tokio::test]
async fn a_failed_turn_is_asked_again_and_those_before_it_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let down = LlmError::new(LlmErrorKind::Server, "down");
    let client = ScriptedClient::new([FIRST]).then(down);
    let error = program(&store, client.clone()).await.unwrap_err();

    insta::assert_snapshot!(error, @"flow `app`, node `think`: exec failed: thought 2: the call to the model failed: server: down");

    let second = ScriptedClient::new([SECOND, LAST]);
    let app = program(&store, second.clone()).await.unwrap();
    assert_eq!(app.answer.as_deref(), Some("150"));
    assert_eq!((client.requests().len(), second.requests().len()), (2, 2));
    assert_eq!(client.requests()[1], second.requests()[0]);
}
