//! What a record contains.

use std::sync::Arc;

use cogwork_ask::Reporting;
use cogwork_flow::{Flow, events, from_fn, from_phases};
use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, Message, Price, Prices,
    ScriptedClient, ScriptedReply, ToolCall, Usage,
};
use cogwork_trace::{ChatReport, RecordedKind, RecorderSettings, RunRecorder, record_path};

use crate::support::{TestRecord, asking};

fn reply(text: &str) -> ChatResponse {
    ChatResponse::new(text)
        .with_model("small-1")
        .with_usage(Usage::new(1_000, 20).with_cached_tokens(400))
}

#[tokio::test(start_paused = true)]
async fn a_question_with_a_complaint() {
    let record = TestRecord::new();
    let client = ScriptedClient::new([reply("Eight."), reply("I think:\n8").with_id("r-2")]);
    let prices = Prices::new().with_model("small", Price::per_million(1.0, 10.0).with_cached(0.1));
    let recorder = record.recorder(RecorderSettings::default().with_prices(prices));

    let flow = asking(client);
    let mut number = 0;
    let run = flow.begin().with_id("run 7").with_events(&recorder);
    { run }.finish(&mut number).await.unwrap();
    recorder.flush().unwrap();

    assert_eq!(number, 8);
    insta::assert_snapshot!(record.text());

    // The repair is in the last line.
    let events = record.events();
    let judged = events.iter().filter_map(|event| match event.chat() {
        Some(ChatReport::Judged(judged)) => judged.repairs.first(),
        _ => None,
    });
    let place: Vec<_> = judged.map(|repair| (repair.start, repair.end)).collect();
    assert_eq!(place, [(Some(9), Some(10))]);
}

/// A client whose calls are made by the node itself.
fn calling<C: LlmClient + 'static>(client: C, streaming: bool) -> Flow<Vec<String>> {
    let client = Arc::new(client);
    let ask = from_phases(
        |questions: &mut Vec<String>| questions.clone(),
        move |questions: Vec<String>| {
            let client = Arc::clone(&client);
            async move {
                let mut request = ChatRequest::default();
                for question in questions {
                    request.push(Message::user(question));
                    let response = if streaming {
                        let mut reply = client.stream(request.clone()).await?;
                        while let Some(delta) = reply.next().await {
                            delta?;
                        }
                        ChatResponse::new("streamed")
                    } else {
                        client.complete(request.clone()).await?
                    };
                    request.push(response.message());
                }
                Ok::<_, LlmError>(request.messages().len())
            }
        },
        |_, _, _| (),
    );

    Flow::from_node("ask", ask).unwrap()
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_node_that_calls_a_client_itself() {
    let error = LlmError::new(LlmErrorKind::Server, "overloaded");
    let client = Reporting::new(ScriptedClient::new([
        ScriptedReply::from(ChatResponse::new("Oslo.")),
        ScriptedReply::from(error),
    ]))
    .with_name("capitals");

    let record = TestRecord::new();
    let recorder = record.recorder(RecorderSettings::default());
    let flow = calling(client, false);
    let mut questions = vec!["Norway?".to_owned(), "Sweden?".to_owned()];
    let run = flow.begin().with_id("r").with_events(&recorder);
    { run }.finish(&mut questions).await.unwrap_err();
    recorder.flush().unwrap();

    insta::assert_snapshot!(record.text());
}

#[tokio::test(start_paused = true)]
async fn a_streamed_call_is_recorded_at_its_end() {
    let record = TestRecord::new();
    let recorder = record.recorder(RecorderSettings::default());
    let flow = calling(Reporting::new(ScriptedClient::new(["Oslo."])), true);
    let mut run = flow.begin().with_events(&recorder);
    run.finish(&mut vec!["Norway?".to_owned()]).await.unwrap();
    recorder.flush().unwrap();

    let replies: Vec<_> = record
        .events()
        .iter()
        .filter_map(|event| match event.chat() {
            Some(ChatReport::Chat(chat)) => Some(chat.reply.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(replies, ["Oslo."]);
}

#[tokio::test(start_paused = true)]
async fn a_call_is_recorded_once_if_several_would_report_it() {
    let client = ScriptedClient::new(["8"]);
    let client = Reporting::new(Reporting::new(client));
    let record = TestRecord::new();
    let recorder = record.recorder(RecorderSettings::default());

    let flow = asking(client);
    let mut run = flow.begin().with_events(&recorder);
    run.finish(&mut 0).await.unwrap();
    recorder.flush().unwrap();

    let events = record.events();
    let calls = events
        .iter()
        .filter(|event| matches!(event.chat(), Some(ChatReport::Chat(_))));
    assert_eq!(calls.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_recorded_once_however_often_it_is_sent() {
    const QUESTIONS: usize = 40;

    let replies = (0..QUESTIONS).map(|number| format!("reply {number}"));
    let client = Reporting::new(ScriptedClient::new(replies.collect::<Vec<_>>()));
    let record = TestRecord::new();
    let recorder = record.recorder(RecorderSettings::default());

    let flow = calling(client, false);
    let questions = (0..QUESTIONS).map(|number| format!("question {number}"));
    let mut run = flow.begin().with_events(&recorder);
    run.finish(&mut questions.collect()).await.unwrap();
    recorder.flush().unwrap();

    let events = record.events();
    let messages: Vec<_> = events
        .iter()
        .filter_map(|event| match event.chat() {
            Some(ChatReport::Message(message)) => Some(message.content.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(messages.len(), 2 * QUESTIONS - 1);

    let last = events.iter().rev().find_map(|event| match event.chat() {
        Some(ChatReport::Chat(chat)) => Some(&chat.messages),
        _ => None,
    });
    let sent: Vec<_> = last
        .unwrap()
        .iter()
        .map(|id| messages[usize::try_from(id).unwrap()])
        .collect();
    assert_eq!(sent[..3], ["question 0", "reply 0", "question 1"]);
    assert_eq!(sent.len(), 2 * QUESTIONS - 1);
}

#[tokio::test(start_paused = true)]
async fn tool_calls_and_their_results_are_messages() {
    let call = ToolCall::new("call_1", "weather", r#"{"city":"Bergen"}"#);
    let asked = ChatResponse::new("").with_tool_calls([call.clone()]);
    let client = Reporting::new(ScriptedClient::new([asked, ChatResponse::new("Yes.")]));
    let ask = from_phases(
        |_: &mut u32| (),
        move |()| {
            let client = client.clone();
            async move {
                let mut request = ChatRequest::new([Message::user("Do I need an umbrella?")]);
                let response = client.complete(request.clone()).await?;
                request.push(response.message());
                for call in response.tool_calls() {
                    request.push(Message::tool_failure(call, "no such city"));
                }
                client.complete(request).await.map(drop)
            }
        },
        |_, _, ()| (),
    );
    let flow = Flow::from_node("ask", ask).unwrap();

    let record = TestRecord::new();
    let recorder = record.recorder(RecorderSettings::default());
    let run = flow.begin().with_id("r").with_events(&recorder);
    { run }.finish(&mut 0).await.unwrap();
    recorder.flush().unwrap();

    insta::assert_snapshot!(record.text());
}

#[tokio::test(start_paused = true)]
async fn a_channel_of_events_can_be_read_at_the_same_time() {
    let record = TestRecord::new();
    let recorder = record.recorder(RecorderSettings::default());
    let flow = asking(ScriptedClient::new(["8"]));
    let (sink, mut events) = events(1);

    let mut run = flow.begin().with_events(sink).with_events(&recorder);
    run.finish(&mut 0).await.unwrap();
    drop(run);
    recorder.flush().unwrap();

    // The reader was too slow, but the recorder got everything.
    assert!(matches!(
        events.next().await.unwrap().kind,
        cogwork_flow::EventKind::Lost { .. }
    ));
    let recorded = record.events();
    assert!(
        !recorded
            .iter()
            .any(|event| matches!(event.kind, RecordedKind::Lost { .. }))
    );
    assert_eq!(recorded.last().unwrap().name(), "ended");
}

#[tokio::test]
async fn a_run_in_a_folder_has_a_safe_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("runs");
    let id = "../Run 7";
    let recorder = RunRecorder::in_folder(&folder, id, RecorderSettings::default()).unwrap();

    let flow = Flow::from_node("greet", from_fn(|_: &mut u32| ())).unwrap();
    let run = flow.begin().with_id(id).with_events(&recorder);
    { run }.finish(&mut 0).await.unwrap();
    drop(recorder);

    let path = record_path(&folder, id);
    assert_eq!(path.parent(), Some(folder.as_path()));
    let reader = cogwork_trace::RecordReader::open(path).unwrap();
    assert_eq!(reader.header().run, id);
}
