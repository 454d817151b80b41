//! The thoughts of a strategy while the model writes them.

use std::sync::Arc;

use cogwork_flow::watch::{EventKind, RunItem};
use cogwork_llm::{ScriptedClient, ScriptedReply};
use cogwork_strategies::{Solver, SolvingEvent, StrategyName};

const REPLIES: [&str; 3] = [
    "**Thought:** This is about\ngases.\n**Question:** How?\n**Principle:** P V = n R T",
    "approach: A ratio.\napplication: T' = 2 T\nsolution: P / 4\nanswer: a quarter",
    "{\"thought\": \"As it \\\"should\\\" be.\", \"holds\": \"yes\"}",
];

/// Returns each piece with the step, `⟲` before pieces that begin a text, and `|` before others.
async fn pieces(
    replies: impl IntoIterator<Item = ScriptedReply>,
    strategy: StrategyName,
) -> String {
    let solver = Solver::new(ScriptedClient::new(replies), strategy);
    let solving = solver.begin("What becomes of the pressure?");
    let flow = Arc::new(solver.into_flow().unwrap());
    let mut stream = flow.stream(solving, |run| run);

    let mut step = String::new();
    let mut pieces = String::new();
    while let Some(item) = stream.next().await {
        let RunItem::Event(event) = item else {
            continue;
        };
        let EventKind::Reported { report } = event.kind else {
            continue;
        };
        let Some(SolvingEvent::Thinking {
            question,
            text,
            is_start,
        }) = report.downcast_ref()
        else {
            continue;
        };

        let step_and_question = format!("{} {question}", event.step.unwrap().place());
        let place = step_and_question.trim_end().to_owned();
        if place != step {
            pieces += &format!("\n{place}: ");
            step = place;
        }
        let sign = if *is_start { '⟲' } else { '|' };
        pieces += &format!("{sign}{}", text.escape_debug());
    }

    pieces
}

fn in_pieces(text: &str) -> ScriptedReply {
    let characters: Vec<char> = text.chars().collect();
    ScriptedReply::in_pieces(characters.chunks(9).map(String::from_iter))
}

#[tokio::test]
async fn the_thought_of_a_question_grows_without_the_other_fields() {
    let pieces = pieces(REPLIES.map(in_pieces), StrategyName::StepBack).await;

    insta::assert_snapshot!(pieces, @r#"

    solve: ⟲This| is about|\ngases.⟲As it| \"should|\" be.
    "#);
}

#[tokio::test]
async fn of_several_questions_each_thought_is_reported_as_a_whole() {
    let replies = ["thought: I add\nthem.\nanswer: 4"; 5].map(in_pieces);
    let pieces = pieces(replies, StrategyName::SelfConsistency).await;

    insta::assert_snapshot!(pieces, @r"

    solve path 1: ⟲I add\nthem.
    solve path 2: ⟲I add\nthem.
    solve path 3: ⟲I add\nthem.
    ");
}
