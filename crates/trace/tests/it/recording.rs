//! What a record contains.

use std::sync::Arc;

use cogwork_flow::watch::events;
use cogwork_flow::{Flow, from_phases};
use cogwork_llm::layers::{Price, Prices};
use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, Message, ScriptedClient,
    ScriptedReply, ToolCall, ToolDefinition, Usage,
};
use cogwork_trace::RecorderSettings;
use cogwork_typed::ask::Reporting;
use serde_json::{Value, json};

use crate::support::{TestRecord, asking};

fn plain() -> RecorderSettings {
    RecorderSettings::default()
}

fn reply(text: &str) -> ChatResponse {
    ChatResponse::new(text)
        .with_model("small-1")
        .with_usage(Usage {
            cached_tokens: 400,
            ..Usage::new(1_000, 20)
        })
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
    recorder.flush().await.unwrap();

    assert_eq!(number, 8);
    insta::assert_snapshot!(record.text());
}

#[tokio::test(start_paused = true)]
async fn the_input_and_the_answer_of_a_run_are_texts() {
    let settings = RecorderSettings::default().with_input("How many legs?");
    let record = TestRecord::new();
    let recorder = record.recorder(settings);
    let flow = asking(ScriptedClient::new(["8"]));
    let mut run = flow.begin().with_events(&recorder);
    run.finish(&mut 0).await.unwrap();
    recorder.record_answer("eight");

    let events = record.events();
    assert_eq!(events.first().unwrap()["input"], "How many legs?");
    assert_eq!(events.last().unwrap()["type"], "answered");
    assert_eq!(events.last().unwrap()["text"], "eight");
}

/// A client whose calls are made by the node itself.
fn calling<C: LlmClient + 'static>(client: C, streaming: bool) -> Flow<Vec<String>> {
    let client = Arc::new(client);
    let call = move |questions: Vec<String>| {
        let client = Arc::clone(&client);
        async move {
            let mut request = ChatRequest::default();
            for question in questions {
                request.push(Message::user(question));
                let response = match streaming {
                    true => client.stream(request.clone()).await?.collect().await?,
                    false => client.complete(request.clone()).await?,
                };
                request.push(response.message());
            }
            Ok::<_, LlmError>(request.messages().len())
        }
    };
    let questions = |questions: &mut Vec<String>| questions.clone();
    let ask = from_phases(questions, call, |_, _| ());
    Flow::from_node("ask", ask).unwrap()
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_node_that_calls_a_client_itself() {
    let error = LlmError::new(LlmErrorKind::Server, "overloaded");
    let client = Reporting::new(ScriptedClient::new([
        ScriptedReply::from(ChatResponse::new("Oslo.")),
        ScriptedReply::from(error),
    ]));
    let questions = ["Norway?", "Sweden?"].map(str::to_owned).to_vec();
    let record = TestRecord::of(calling(client, false), questions, plain()).await;
    insta::assert_snapshot!(record.text());
}

#[tokio::test(start_paused = true)]
async fn a_streamed_call_is_recorded_at_its_end() {
    let flow = calling(Reporting::new(ScriptedClient::new(["Oslo."])), true);
    let record = TestRecord::of(flow, vec!["Norway?".to_owned()], plain()).await;
    let chats = record.chats("chat");
    assert_eq!(chats.len(), 1);
    assert_eq!(chats[0]["reply"], "Oslo.");
}

#[tokio::test(start_paused = true)]
async fn what_a_client_changed_for_its_server_is_recorded() {
    let adjusted = json!({"text": "Oslo.", "adjustments": [{"setting": "temperature"}]});
    let adjusted: ChatResponse = serde_json::from_value(adjusted).unwrap();
    let flow = calling(Reporting::new(ScriptedClient::new([adjusted])), false);
    let record = TestRecord::of(flow, vec!["Norway?".to_owned()], plain()).await;
    let adjustments = &record.chats("chat")[0]["adjustments"];
    assert_eq!(*adjustments, json!(["temperature was not sent"]));
}

#[tokio::test(start_paused = true)]
async fn a_call_is_recorded_once_if_several_would_report_it() {
    let client = Reporting::new(Reporting::new(ScriptedClient::new(["8"])));
    let record = TestRecord::of(asking(client), 0, plain()).await;
    assert_eq!(record.chats("chat").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_recorded_once_however_often_it_is_sent() {
    const QUESTIONS: usize = 40;

    let replies = (0..QUESTIONS).map(|number| format!("reply {number}"));
    let client = Reporting::new(ScriptedClient::new(replies.collect::<Vec<_>>()));
    let questions = (0..QUESTIONS).map(|number| format!("question {number}"));
    let record = TestRecord::of(calling(client, false), questions.collect(), plain()).await;
    let messages = record.chats("message");
    assert_eq!(messages.len(), 2 * QUESTIONS - 1);
    let said: Vec<_> = messages.iter().map(|message| &message["content"]).collect();
    assert_eq!(said[..3], ["question 0", "reply 0", "question 1"]);

    let chats = record.chats("chat");
    let sent = &chats.last().unwrap()["messages"];
    assert_eq!(*sent, json!([[0, 2 * QUESTIONS - 2]]));
}

#[tokio::test(start_paused = true)]
async fn tool_calls_and_their_results_are_messages() {
    let call = ToolCall::new("call_1", "weather", r#"{"city":"Bergen"}"#);
    let asked = ChatResponse::new("").with_tool_calls([call.clone()]);
    let client = Reporting::new(ScriptedClient::new([asked, ChatResponse::new("Yes.")]));
    let flow = doing(client, |client| async move {
        let mut request = ChatRequest::new([Message::user("Do I need an umbrella?")]);
        let response = client.complete(request.clone()).await?;
        request.push(response.message());
        for call in response.tool_calls() {
            request.push(Message::tool_failure(call, "no such city"));
        }
        client.complete(request).await.map(drop)
    });
    let record = TestRecord::of(flow, 0, plain()).await;
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
    recorder.flush().await.unwrap();

    // The reader was too slow, but the recorder got everything.
    assert!(matches!(
        events.next().await.unwrap().kind,
        cogwork_flow::watch::EventKind::Lost { .. }
    ));
    let recorded = record.events();
    assert!(!recorded.iter().any(|event| event["type"] == "lost"));
    assert_eq!(recorded.last().unwrap()["type"], "ended");
}

/// A flow of one node, which does `work` with a client or an embedder.
fn doing<C, F>(with: C, work: impl Fn(Arc<C>) -> F + Send + Sync + 'static) -> Flow<u32>
where
    C: Send + Sync + 'static,
    F: Future<Output = Result<(), LlmError>> + Send + 'static,
{
    let with = Arc::new(with);
    let work = move |()| work(Arc::clone(&with));
    let node = from_phases(|_: &mut u32| (), work, |_, ()| ());
    Flow::from_node("work", node).unwrap()
}

async fn offering(tools: &'static [&'static [&'static str]]) -> TestRecord {
    let client = Reporting::new(ScriptedClient::new(vec!["Yes."; tools.len()]));
    let flow = doing(client, move |client| async move {
        for names in tools {
            let tools = names.iter();
            let tools = tools.map(|name| ToolDefinition::new(*name, "Says it.", "{}"));
            let request = ChatRequest::new([Message::user("Go.")]).with_tools(tools);
            client.complete(request).await?;
        }
        Ok(())
    });

    TestRecord::of(flow, 0, plain()).await
}

#[tokio::test(start_paused = true)]
async fn each_list_of_tools_is_recorded_once() {
    let lists: &[&[&str]] = &[&["a", "b"], &["a", "b"], &["a"], &[], &["a", "b"]];
    let record = offering(lists).await;
    let lists = record.chats("tools");
    let tools = lists
        .iter()
        .map(|list| (&list["id"], list["tools"].as_array()));
    let tools = tools.map(|(id, tools)| (id, tools.unwrap().len()));
    assert_eq!(tools.collect::<Vec<_>>(), [(&json!(0), 2), (&json!(1), 1)]);

    let chats = record.chats("chat");
    let offered = chats.iter().map(|chat| chat["settings"].get("tools"));
    let offered: Vec<_> = offered.map(|id| id.and_then(Value::as_u64)).collect();
    assert_eq!(offered, [Some(0), Some(0), Some(1), None, Some(0)]);
    let line = record.text();
    let line = line.lines().find(|line| line.contains("\"tools\":["));
    insta::assert_snapshot!(line.unwrap(), @r#"{"at":0.0,"report":{"id":0,"tools":[{"description":"Says it.","input_schema":"{}","name":"a"},{"description":"Says it.","input_schema":"{}","name":"b"}],"type":"tools"},"source":"chat","step":"work/work#1","type":"reported"}"#);
}
