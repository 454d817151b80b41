//! The events of a reasoning, as a web client receives them.

use std::sync::Arc;
use std::time::Duration;

use cogwork_cot::{ChainOfThought, Reasoning, ReasoningEnd, ReasoningEvent};
use cogwork_flow::watch::{EventKind, RunStream, events};
use cogwork_flow::{CancellationToken, Flow, Node, Run};
use cogwork_journal::Store;
use cogwork_llm::{LlmClient, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply};
use cogwork_typed::ask::Limits;
use insta::assert_snapshot;

use crate::node::support::{FIRST, LAST, PROSE, in_pieces, reasoning};

type Set = fn(Run<'_, Reasoning>) -> Run<'_, Reasoning>;
const AS_IT_IS: Set = |run| run;

fn stream(
    node: ChainOfThought,
    set: impl for<'f> FnOnce(Run<'f, Reasoning>) -> Run<'f, Reasoning> + Send + 'static,
) -> RunStream<Reasoning> {
    Arc::new(node.into_flow()).stream(reasoning(), set)
}

async fn all(stream: &mut RunStream<Reasoning>) -> Vec<ReasoningEvent> {
    let mut all = Vec::new();
    while let Some(item) = stream.next().await {
        all.extend(ReasoningEvent::of(&item));
    }
    all
}

async fn json(mut stream: RunStream<Reasoning>) -> String {
    let events = all(&mut stream).await.into_iter();
    let lines = events.map(|event| serde_json::to_string(&event).unwrap() + "\n");
    lines.collect()
}

#[tokio::test(start_paused = true)]
async fn every_event_of_a_reasoning_is_an_object() {
    let client = ScriptedClient::new([in_pieces(FIRST, 40), PROSE.into(), in_pieces(LAST, 40)]);

    assert_snapshot!(json(stream(ChainOfThought::new(client), AS_IT_IS)).await, @r#"
    {"type":"started","problem":"What is 12 * 12 + 6?"}
    {"type":"thinking","thought":1,"text":"I multiply, th","is_start":true}
    {"type":"thinking","thought":1,"text":"en add.","is_start":false}
    {"type":"thought","thought":1,"text":"I multiply, then add.","plan":[{"description":"Multiply","status":"Pending"},{"description":"Add","status":"Pending"},{"description":"Conclusion","status":"Pending"}],"next_thought_needed":true,"spent":{"calls":1,"usage":{"prompt_tokens":0,"completion_tokens":0,"cached_tokens":0},"estimated_tokens":1053,"bytes":4208,"seconds":0.0},"total":{"calls":1,"usage":{"prompt_tokens":0,"completion_tokens":0,"cached_tokens":0},"estimated_tokens":1053,"bytes":4208,"seconds":0.0}}
    {"type":"asking_again","thought":2,"problem":"line 1: the reply has no YAML block; expected one with the keys `current_thinking`, `planning` and `next_thought_needed`"}
    {"type":"thinking","thought":2,"text":"Evaluation","is_start":true}
    {"type":"thinking","thought":2,"text":" of thought 2: right.\n144 + 6 = 150, s","is_start":false}
    {"type":"thinking","thought":2,"text":"o the answer is 150.","is_start":false}
    {"type":"thinking","thought":2,"text":"\n","is_start":false}
    {"type":"thought","thought":2,"text":"Evaluation of thought 2: right.\n144 + 6 = 150, so the answer is 150.\n","plan":[{"description":"Multiply","status":"Done","result":"144"},{"description":"Add","status":"Done","result":"150"},{"description":"Conclusion","status":"Done","result":"150"}],"changes":[{"path":"1","description":"Multiply","change":"status_changed","from":"Pending","to":"Done"},{"path":"1","description":"Multiply","change":"result_changed","from":null,"to":"144"},{"path":"2","description":"Add","change":"status_changed","from":"Pending","to":"Done"},{"path":"2","description":"Add","change":"result_changed","from":null,"to":"150"},{"path":"3","description":"Conclusion","change":"status_changed","from":"Pending","to":"Done"},{"path":"3","description":"Conclusion","change":"result_changed","from":null,"to":"150"}],"next_thought_needed":false,"spent":{"calls":2,"usage":{"prompt_tokens":0,"completion_tokens":0,"cached_tokens":0},"estimated_tokens":2354,"bytes":9409,"seconds":0.0},"total":{"calls":3,"usage":{"prompt_tokens":0,"completion_tokens":0,"cached_tokens":0},"estimated_tokens":3407,"bytes":13617,"seconds":0.0}}
    {"type":"ended","reason":"answered","answer":"150","solution":"Evaluation of thought 2: right.\n144 + 6 = 150, so the answer is 150.\n","concluded":true,"thoughts":2,"total":{"calls":3,"usage":{"prompt_tokens":0,"completion_tokens":0,"cached_tokens":0},"estimated_tokens":3407,"bytes":13617,"seconds":0.0}}
    "#);
}

#[tokio::test]
async fn the_end_has_a_reason() {
    let node = |replies: &[&str]| ChainOfThought::new(ScriptedClient::new(replies.iter().copied()));
    let one = Limits::default().with_thoughts(1);
    let broken = ScriptedClient::new([LlmError::new(LlmErrorKind::Server, "on fire")]);
    let broken = ChainOfThought::new(broken);
    let limited = node(&[FIRST]).with_limits(one);
    let token = CancellationToken::new();
    token.cancel();
    let stopped = stream(node(&[FIRST, FIRST]), |run| run.with_max_steps(1));
    let cancelled = stream(node(&[FIRST]), |run| run.with_cancellation(token));

    for (mut stream, expected, has_answer) in [
        (
            stream(node(&[LAST]), AS_IT_IS),
            ReasoningEnd::Answered,
            true,
        ),
        (stream(limited, AS_IT_IS), ReasoningEnd::Limit, true),
        (stopped, ReasoningEnd::Limit, false),
        (cancelled, ReasoningEnd::Cancelled, false),
        (stream(broken, AS_IT_IS), ReasoningEnd::Failed, false),
    ] {
        let last = all(&mut stream).await.pop();
        assert!(stream.next().await.is_none());
        let Some(ReasoningEvent::Ended {
            reason,
            answer,
            error,
            ..
        }) = last
        else {
            unreachable!("{last:?}")
        };
        assert_eq!((reason, answer.is_some()), (expected, has_answer));
        assert_eq!(answer.is_none(), error.is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_the_stream_cancels_the_call() {
    let slow = ScriptedReply::from(LAST).after(Duration::from_secs(60));
    let client = Arc::new(ScriptedClient::default().then(slow));
    let node = ChainOfThought::new(Arc::clone(&client) as Arc<dyn LlmClient>);
    let mut stream = stream(node, AS_IT_IS);

    let reading = async { while stream.next().await.is_some() {} };
    tokio::time::timeout(Duration::from_secs(1), reading)
        .await
        .unwrap_err();
    assert_eq!(client.requests().len(), 1);
    assert_eq!(Arc::strong_count(&client), 2);

    drop(stream);
    assert_eq!(Arc::strong_count(&client), 1);
}

#[tokio::test]
async fn inside_a_larger_flow_the_events_are_reports_of_the_run() {
    struct App {
        question: Reasoning,
    }

    let node = ChainOfThought::new(ScriptedClient::new([LAST]));
    let flow = Flow::builder("app")
        .start("think")
        .node("think", node.focus(|app: &mut App| &mut app.question))
        .edge("think", ChainOfThought::CONTINUE, "think")
        .end("think", ChainOfThought::END)
        .build()
        .unwrap();

    let (sink, mut events) = events(1_000);
    let mut app = App {
        question: reasoning(),
    };
    let mut run = flow.begin().with_events(sink);
    run.finish(&mut app).await.unwrap();
    drop(run);

    let mut kinds = Vec::new();
    while let Some(event) = events.next().await {
        // The calls to the model are reported as well.
        if let EventKind::Reported { report } = event.kind
            && report.source() == "reasoning"
        {
            assert!(report.downcast_ref::<ReasoningEvent>().is_some());
            let json = serde_json::to_value(&report).unwrap();
            kinds.push(json["type"].as_str().unwrap().to_owned());
        }
    }

    // The reply ends with a line break, which is held back until the reply was read.
    assert_eq!(kinds, ["started", "thinking", "thinking", "thought"]);
}

#[tokio::test]
async fn a_replay_repeats_thoughts_but_no_growth() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = Vec::new();

    for replies in [&[FIRST, LAST][..], &[]] {
        let store = Store::files(folder.path());
        let node = ChainOfThought::new(ScriptedClient::new(replies.iter().copied()));
        let flow = node.clone().into_flow();
        let journal = store.start_or_resume("run", &flow, &reasoning()).await;
        let journal = journal.unwrap();
        let stream = stream(node, |run| run.with_journal(journal));
        lines.push(json(stream).await);
    }

    let events = lines[0].split_inclusive('\n');
    let without_growth = events.filter(|line| !line.contains(r#""type":"thinking""#));
    let without_growth: String = without_growth.collect();
    assert_ne!(lines[0], lines[1]);
    assert_eq!(without_growth, lines[1]);
}
