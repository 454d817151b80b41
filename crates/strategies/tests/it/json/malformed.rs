//! JSON as models write it.

use cogwork_llm::{Capabilities, Capability, ChatResponse, FinishReason, ScriptedClient};
use cogwork_strategies::{Asked, Call, Format, Solver, Strategies, StrategyName};

#[path = "../../../../typed/tests/replies/mod.rs"]
mod replies;
use replies::{Outcome, hostile_replies};

/// A strategy with one question, for a score and a reason.
const STRATEGY: &str = "\
judge:
  description: Judges.
  stages:
    begin: {description: The problem., prompt: p, next: [judge]}
    judge:
      description: The judgement.
      prompt: p
      final: true
      parameters:
        score: {type: integer, description: how good it is}
        reason: {type: text, description: why}";

fn client(replies: impl IntoIterator<Item = ChatResponse>) -> ScriptedClient {
    let schema = Capabilities::none().with(Capability::JsonSchema);
    ScriptedClient::new(replies).with_capabilities(schema)
}

fn judge() -> cogwork_strategies::Strategy {
    let strategies = Strategies::from_yaml(STRATEGY).unwrap();
    strategies.get("judge").unwrap().clone()
}

#[tokio::test]
async fn repairs_are_kept_in_the_trace() {
    let reply = "Sure:\n\n{\"thought\": \"t\",\n 'reason': \"Clean\",\n \"score\": 8,}";
    let client = client([ChatResponse::new(reply)]);
    let solved = Solver::new(client, judge()).solve("p").await.unwrap();

    let Some(Call::Model(Asked { repairs, .. })) = solved.trace().calls().last() else {
        panic!("no call");
    };
    let repairs: Vec<String> = repairs.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(repairs.join("\n"), @"
    line 4: took other quotes for double quotes
    line 5: left out a comma
    ");

    let saved = serde_json::to_value(solved.trace()).unwrap();
    assert_eq!(saved["calls"][0]["model"]["format"], "schema");
    assert_eq!(
        saved["calls"][0]["model"]["repairs"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
}

#[tokio::test]
async fn a_reply_at_the_limit_of_tokens_is_asked_for_again() {
    let cut = ChatResponse::new(r#"{"thought": "t", "reason": "Cl"#)
        .with_finish_reason(FinishReason::Length);
    let whole = ChatResponse::new(r#"{"thought": "t", "reason": "Clean", "score": 8}"#);
    let client = client([cut, whole]);
    let solved = Solver::new(client, judge()).solve("p").await.unwrap();

    let Some(Call::Model(Asked { tries, .. })) = solved.trace().calls().last() else {
        panic!("no call");
    };
    insta::assert_snapshot!(tries[0].complaint.as_deref().unwrap(), @"line 1: the reply ends inside the value; expected all of it; the reply was cut off at the limit of tokens, so be shorter");
}

/// Otherwise, the items that the model had no room for would be missing.
#[tokio::test]
async fn a_list_at_the_limit_of_tokens_is_asked_for_again() {
    let cut = ChatResponse::new(r#"{"thought": "t", "steps": ["one", "tw"#)
        .with_finish_reason(FinishReason::Length);
    let steps = r#"{"thought": "t", "steps": ["one"]}"#;
    let results = r#"{"thought": "t", "results": ["1"], "answer": "1"}"#;
    let checked = r#"{"thought": "t", "holds": true, "answer": "1"}"#;
    let whole = [steps, results, checked].map(ChatResponse::new);

    let client = client(std::iter::once(cut).chain(whole));
    let solver = Solver::new(client, StrategyName::ChainOfThought);
    let solved = solver.solve("p").await.unwrap();

    let Some(Call::Model(Asked { tries, .. })) = solved.trace().calls().first() else {
        panic!("no call");
    };
    assert_eq!(
        tries[0].complaint.as_deref(),
        Some(
            "line 1: the reply ends inside the value; expected all of it; \
             the reply was cut off at the limit of tokens, so be shorter"
        )
    );
}

const USABLE: &str =
    "{\n  \"thought\": \"It rhymes.\",\n  \"reason\": \"The rhyme is clean.\",\n  \"score\": 8\n}";

async fn outcome(format: Format, reply: &str) -> Outcome {
    let client = ScriptedClient::new([reply, USABLE]);
    let solver = Solver::new(client.clone(), judge()).with_format(format);
    let ended = solver.solve("A poem.").await;

    if let Ok(solved) = &ended {
        let judged = solved.trace().session().thoughts().last().unwrap();
        assert_eq!(judged.parameter("score"), Some(&8.into()), "{reply:.200}");
    }

    match (ended.is_ok(), client.requests().len()) {
        (true, 1) => Outcome::Read,
        (true, _) => Outcome::AskedAgain,
        (false, _) => Outcome::Refused,
    }
}

#[tokio::test]
async fn hostile_replies_are_read_asked_for_again_or_refused_on_every_format() {
    for format in Format::ALL {
        for hostile in hostile_replies(USABLE) {
            let outcome = outcome(format, &hostile.reply).await;
            assert_eq!(outcome, hostile.outcome, "{} on {format}", hostile.name);
        }
    }
}
