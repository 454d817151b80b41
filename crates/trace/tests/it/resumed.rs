//! What is recorded of runs that are resumed again and again.

use std::sync::Arc;

use cogwork_flow::{Flow, Wait, from_phases};
use cogwork_journal::Store;
use cogwork_llm::{ChatRequest, LlmClient, LlmError, Message, ScriptedClient};
use cogwork_trace::{RecorderSettings, RunRecorder};
use cogwork_typed::ask::Reporting;
use serde_json::{Value, json};

use crate::stores::events;

type Talk = Vec<String>;

/// A conversation, in which a person and a model take turns until the person says no more.
fn chat(replies: usize) -> Flow<Talk> {
    let replies = (0..replies).map(|number| format!("reply {number}"));
    let client = Reporting::new(ScriptedClient::new(replies.collect::<Vec<_>>()));
    let client = Arc::new(client);
    let reply = move |talk: Talk| {
        let client = Arc::clone(&client);
        async move {
            let request = ChatRequest::new(talk.into_iter().map(Message::user));
            let response = client.complete(request).await?;
            Ok::<_, LlmError>(response.text().to_owned())
        }
    };

    let ask = Wait::for_event("say", |talk: &mut Talk, said: String| talk.push(said));
    let reply = from_phases(
        |talk: &mut Talk| talk.clone(),
        reply,
        |talk, reply| talk.push(reply),
    );
    Flow::builder("chat")
        .start("ask")
        .wait("ask", ask)
        .node("reply", reply)
        .edge("ask", "default", "reply")
        .edge("reply", "default", "ask")
        .build()
        .unwrap()
}

/// Executes the run until it pauses, answers it if there is an answer, and gives it back.
async fn proceed(store: &Store, flow: &Flow<Talk>, is_recorded: bool, answer: Option<String>) {
    let journal = store
        .start_or_resume("r", flow, &Talk::new())
        .await
        .unwrap();
    let recorder = match is_recorded {
        true => Some(RunRecorder::new(&journal, RecorderSettings::default()).await),
        false => None,
    };

    let mut run = flow.begin().with_journal(journal);
    if let Some(recorder) = &recorder {
        run = run.with_events(recorder);
    }
    run.proceed(&mut Talk::new()).await.unwrap();
    if let Some(answer) = answer {
        run.deliver("say", &answer).await.unwrap();
    }
    drop(run);

    if let Some(recorder) = recorder {
        recorder.flush().await.unwrap();
    }
    while store.is_in_use("r").await.unwrap() {
        tokio::task::yield_now().await;
    }
}

/// Answers so often, in a new process each time, as it were, and returns what was recorded.
async fn answered(times: usize) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let flow = chat(times);

    for number in 0..times {
        let question = format!("question {number}");
        proceed(&store, &flow, true, Some(question)).await;
    }
    proceed(&store, &flow, true, None).await;
    events(&store, "r").await
}

fn of_type<'e>(events: &'e [Value], name: &str) -> Vec<&'e Value> {
    let named = events.iter().filter(|event| event["type"] == name);
    named.collect()
}

#[tokio::test]
async fn the_events_of_a_run_grow_with_its_pauses_and_not_with_their_square() {
    let [few, many] = [answered(5).await, answered(20).await];
    assert!(
        many.len() < 4 * few.len(),
        "{} and {}",
        few.len(),
        many.len()
    );
    assert_eq!(of_type(&many, "opened").len(), 21);
    // Each wait is entered once more when it has its answer.
    assert_eq!(of_type(&many, "step_entered").len(), 20 * 3 + 1);
    assert_eq!(of_type(&many, "outcome").len(), 20 * 2);
    assert_eq!(of_type(&many, "replayed").len(), 0);
}

#[tokio::test]
async fn a_message_is_recorded_once_however_often_a_run_is_resumed() {
    let events = answered(4).await;
    let reports = events.iter().filter(|event| event["source"] == "chat");
    let reports: Vec<_> = reports.map(|event| event["report"].clone()).collect();

    let messages = of_type(&reports, "message");
    let said = messages.iter().map(|message| message["content"].as_str());
    let said: Vec<_> = said.map(Option::unwrap).collect();
    assert_eq!(said[..3], ["question 0", "reply 0", "question 1"]);
    assert_eq!(said.len(), 7);

    let chats = of_type(&reports, "chat");
    let sent = chats.iter().map(|chat| (&chat["call"], &chat["messages"]));
    let sent: Vec<_> = sent.map(|(call, sent)| json!([call, sent])).collect();
    let expected = json!([[0, [0]], [1, [[0, 2]]], [2, [[0, 4]]], [3, [[0, 6]]]]);
    assert_eq!(json!(sent), expected);
}

#[tokio::test]
async fn what_was_not_recorded_before_is_recorded_when_it_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let flow = chat(2);
    proceed(&store, &flow, false, Some("question 0".to_owned())).await;
    proceed(&store, &flow, false, Some("question 1".to_owned())).await;
    for _ in 0..2 {
        proceed(&store, &flow, true, None).await;
    }
    let events = events(&store, "r").await;
    let replayed = of_type(&events, "replayed");
    let steps: Vec<_> = replayed.iter().map(|event| &event["step"]).collect();
    assert_eq!(steps, ["chat/ask#1", "chat/reply#2"]);
}
