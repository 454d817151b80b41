//! Texts while they are written.

use cogwork_flow::watch::{events, note_growth, report_from};
use cogwork_flow::{CancellationToken, Flow, from_exec, from_exec_with};
use cogwork_llm::ScriptedClient;
use cogwork_trace::{GrowingTexts, Piece};
use cogwork_typed::Model;
use serde_json::{Value, json};

/// Returns the pieces of a step, which begins with `+` if it starts a text, and ends with `.` if it ends one.
async fn pieces(mut texts: GrowingTexts, mut reports: Vec<Value>) -> Vec<String> {
    let write = from_exec(async |reports: Vec<Value>| {
        for report in &reports {
            match report.as_str() {
                Some(reply) => note_growth(|| reply.to_owned()),
                None => report_from("reasoning", || report.clone()),
            }
        }
        Ok::<_, std::io::Error>(reports)
    });
    let flow = Flow::from_node("write", write).unwrap();
    let (sink, mut events) = events(100);
    flow.begin()
        .with_events(sink)
        .finish(&mut reports)
        .await
        .unwrap();

    let mut shown = Vec::new();
    while let Some(event) = events.next().await {
        shown.extend(texts.add(&event));
    }
    let shown = shown.into_iter().map(|piece: Piece| {
        assert_eq!(piece.step.to_string(), "write/write#1");
        let start = if piece.is_start { "+" } else { "" };
        let end = if piece.is_end { "." } else { "" };
        format!("{start}{}{end}", piece.text)
    });
    shown.collect()
}

fn thinking(text: &str, is_start: bool) -> Value {
    json!({"type": "thinking", "thought": 1, "text": text, "is_start": is_start})
}

fn thought(text: &str) -> Value {
    json!({"type": "thought", "thought": 1, "text": text, "plan": []})
}

#[tokio::test]
async fn thoughts_are_shown_once_and_without_the_replies_around_them() {
    let reports = vec![
        json!({"type": "started", "problem": "?"}),
        thinking("I thi", true),
        json!("{\"thought\": "),
        thinking("nk", false),
        // A reply that could not be used is replaced.
        thinking("I know", true),
        thought("I know"),
        // A provider that answers at once.
        thought("All at once"),
    ];
    let shown = pieces(GrowingTexts::default(), reports).await;
    assert_eq!(shown, ["+I thi", "nk", "+I know", ".", "+All at once."]);
}

#[tokio::test]
async fn a_reply_takes_the_place_of_one_that_could_not_be_used() {
    let model = Model::text(ScriptedClient::new(["41", "42"])).with_check(|answer| {
        let is_right = answer == "42";
        is_right.then_some(()).ok_or_else(|| "wrong".to_owned())
    });
    let ask = model.node(|(): &()| "What is 6 * 7?", |(), _| ());
    let flow = Flow::from_node("ask", ask).unwrap();
    let (sink, mut events) = events(100);
    flow.begin()
        .with_events(sink)
        .finish(&mut ())
        .await
        .unwrap();

    let mut texts = GrowingTexts::default();
    let mut shown = Vec::new();
    while let Some(event) = events.next().await {
        shown.extend(texts.add(&event));
    }
    let shown: Vec<_> = shown
        .iter()
        .map(|piece| (piece.is_start, piece.text.as_str(), piece.is_end))
        .collect();
    let (first, second) = ((true, "41", false), (true, "42", false));
    assert_eq!(shown, [first, (false, "", true), second, (false, "", true)]);
}

#[tokio::test]
async fn the_end_of_a_text_is_held_back_if_there_are_secrets() {
    let texts = || GrowingTexts::default().with_secrets(|text| text.replace("hunter2", "…"));
    let dots = ".".repeat(128);
    let reports = vec![json!("It is hun"), json!("ter2"), json!(dots)];
    let shown = pieces(texts(), reports).await;
    assert_eq!(shown, ["+", "It is …", &format!("{dots}.")]);

    let reports = vec![thinking("It is hunter2", true), thought("It is hunter2")];
    assert_eq!(pieces(texts(), reports).await, ["+", "It is ….",]);
}

#[tokio::test]
async fn what_was_held_back_is_shown_when_a_run_stops() {
    let token = CancellationToken::new();
    let write = from_exec_with(token.clone(), async |token, ()| {
        note_growth(|| "It is hun".to_owned());
        token.cancel();
        std::future::pending::<Result<(), std::io::Error>>().await
    });
    let flow = Flow::from_node("write", write).unwrap();
    let (sink, mut events) = events(100);
    flow.begin()
        .with_events(sink)
        .with_cancellation(token)
        .finish(&mut ())
        .await
        .unwrap_err();

    let mut texts = GrowingTexts::default().with_secrets(|text| text.replace("hunter2", "…"));
    while let Some(event) = events.next().await {
        let piece = texts.add(&event);
        assert!(piece.is_none_or(|piece| piece.text.is_empty()));
    }
    let shown = texts.end_all();
    let [piece] = shown.as_slice() else {
        panic!("{shown:?}");
    };
    assert_eq!((piece.text.as_str(), piece.is_end), ("It is hun", true));
    assert_eq!(texts.end_all(), []);
}
