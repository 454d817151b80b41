//! What a record contains.

use std::sync::Arc;

use cogwork_ask::Reporting;
use cogwork_flow::{Flow, events, from_fn, from_phases};
use cogwork_llm::{
    ChatRequest, ChatResponse, Embedder, Embeddings, LlmClient, LlmError, LlmErrorKind, Message,
    Price, Prices, ScriptedClient, ScriptedReply, ToolCall, ToolDefinition, Usage, async_trait,
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

/// A flow of one node, which does `work` with a client or an embedder.
fn doing<C, F>(with: C, work: impl Fn(Arc<C>) -> F + Send + Sync + 'static) -> Flow<u32>
where
    C: Send + Sync + 'static,
    F: Future<Output = Result<(), LlmError>> + Send + 'static,
{
    let with = Arc::new(with);
    let node = from_phases(
        |_: &mut u32| (),
        move |()| work(Arc::clone(&with)),
        |_, _, ()| (),
    );

    Flow::from_node("work", node).unwrap()
}

async fn offering(
    tools: &'static [&'static [&'static str]],
    settings: RecorderSettings,
) -> TestRecord {
    let client = Reporting::new(ScriptedClient::new(vec!["Yes."; tools.len()]));
    let flow = doing(client, move |client| async move {
        for names in tools {
            let tools = names
                .iter()
                .map(|name| ToolDefinition::new(*name, "Says it.", "{}"));
            let request = ChatRequest::new([Message::user("Go.")]).with_tools(tools);
            client.complete(request).await?;
        }
        Ok(())
    });

    let record = TestRecord::new();
    for _ in 0..2 {
        let recorder = record.recorder(settings.clone());
        let mut run = flow.begin().with_id("r").with_events(&recorder);
        let _ = run.finish(&mut 0).await;
        recorder.flush().unwrap();
    }
    record
}

#[tokio::test(start_paused = true)]
async fn each_list_of_tools_is_recorded_once() {
    let lists: &[&[&str]] = &[&["a", "b"], &["a", "b"], &["a"], &[], &["a", "b"]];
    let record = offering(lists, RecorderSettings::default()).await;
    let events = record.events();

    let tools: Vec<_> = events
        .iter()
        .filter_map(|event| match event.chat() {
            Some(ChatReport::Tools(tools)) => Some((tools.id, tools.tools.len())),
            _ => None,
        })
        .collect();
    let offered: Vec<_> = events
        .iter()
        .filter_map(|event| match event.chat() {
            Some(ChatReport::Chat(chat)) => Some(chat.settings.tools),
            _ => None,
        })
        .collect();

    // Messages and lists are recorded again when a run is resumed, with new numbers.
    assert_eq!(tools, [(0, 2), (1, 1), (2, 2)]);
    assert_eq!(offered, [Some(0), Some(0), Some(1), None, Some(0)]);
    let line = record.text();
    let line = line.lines().find(|line| line.contains("\"tools\":["));
    insta::assert_snapshot!(line.unwrap(), @r#"{"step":"work/work#1","at":0.0,"type":"reported","source":"chat","report":{"type":"tools","id":0,"tools":[{"name":"a","description":"Says it.","input_schema":"{}"},{"name":"b","description":"Says it.","input_schema":"{}"}]}}"#);
}

#[tokio::test(start_paused = true)]
async fn without_content_tools_have_only_names() {
    let settings = RecorderSettings::default().without_content();
    let record = offering(&[&["spell"]], settings).await;

    assert!(
        record.text().contains("\"name\":\"spell\""),
        "{}",
        record.text()
    );
    assert!(!record.text().contains("Says it."), "{}", record.text());
}

/// An embedder that cannot embed an empty list.
struct Lengths;

#[async_trait]
impl Embedder for Lengths {
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        if texts.is_empty() {
            return Err(LlmError::new(LlmErrorKind::Server, "overloaded"));
        }

        let vectors = texts.iter().map(|text| vec![text.len() as f32, 1.0]);
        Ok(Embeddings::new(vectors)?.with_usage(Usage::new(30, 0)))
    }

    fn model(&self) -> &str {
        "lengths"
    }
}

#[tokio::test(start_paused = true)]
async fn calls_of_an_embedder() {
    let embedder = Reporting::new(Reporting::new(Lengths)).with_name("passages");
    let flow = doing(embedder, |embedder| async move {
        let texts: Vec<_> = (0..10).map(|number| format!("text {number}")).collect();
        embedder.embed(&texts).await?;
        embedder.embed(&[]).await.map(drop)
    });

    let record = TestRecord::new();
    let prices = Prices::new().with_model("lengths", Price::per_million(2.0, 0.0));
    let recorder = record.recorder(RecorderSettings::default().with_prices(prices));
    let mut run = flow.begin().with_id("r").with_events(&recorder);
    run.finish(&mut 0).await.unwrap_err();
    recorder.flush().unwrap();

    let text = record.text();
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.contains("embedded"))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"step":"work/work#1","at":0.0,"type":"reported","source":"chat","report":{"type":"embedded","call":0,"name":"passages","model":"lengths","texts":["text 0","text 1","text 2","text 3","text 4","text 5","text 6","text 7"],"count":10,"bytes":60,"took":0.0,"usage":{"input":30,"output":0},"cost":0.00006}}
    {"step":"work/work#1","at":0.0,"type":"reported","source":"chat","report":{"type":"embedded","call":1,"name":"passages","model":"lengths","texts":[],"count":0,"bytes":0,"took":0.0,"error":"server: overloaded"}}
    "#);
}
