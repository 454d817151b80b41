//! JSON as models write it.

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatResponse, FinishReason, ScriptedClient};
use cogwork_strategies::methods::SelfConsistency;
use cogwork_strategies::{Method, Solver, Strategy, StrategyName};
use cogwork_typed::ask::Format;

use crate::methods::support::complaints;
use crate::support::strategy;

#[path = "../../../../typed/tests/replies/mod.rs"]
mod replies;
use replies::{Outcome, hostile_replies};

fn client(replies: impl IntoIterator<Item = ChatResponse>) -> ScriptedClient {
    let schema = Capabilities::none().with(Capability::JsonSchema);
    ScriptedClient::new(replies).with_capabilities(schema)
}

/// A strategy with one question, for a score and a reason.
fn judge() -> Strategy {
    let parameters = "{score: {type: integer, description: how good it is}, reason: {type: string, description: why}}";
    let stages = format!(
        "begin: {{description: The problem., prompt: p, next: [judge]}}
        judge: {{description: The judgement., prompt: p, final: true, parameters: {parameters}}}"
    );
    strategy("judge", &stages)
}

#[tokio::test]
async fn repairs_are_kept_in_the_trace() {
    let reply = "Sure:\n\n{\"thought\": \"t\",\n 'reason': \" Clean\\n\",\n \"score\": 8,}";
    let solver = Solver::new(client([ChatResponse::new(reply)]), judge());
    let saved = serde_json::to_value(solver.solve("p").await.unwrap()).unwrap();

    let call = &saved["calls"][0]["model"];
    assert_eq!(call["format"], "schema");
    let repairs = call["reply"]["Ok"]["repairs"].as_array();
    assert_eq!(repairs.map(Vec::len), Some(2));
    assert_eq!(call["reply"]["Ok"]["fields"]["reason"], "Clean");
}

/// Otherwise, what the model had no room for would be missing.
#[tokio::test]
async fn a_reply_at_the_limit_of_tokens_is_asked_for_again() {
    let cut = |reply: &str| ChatResponse::new(reply).with_finish_reason(FinishReason::Length);
    let judgement = ChatResponse::new(r#"{"thought": "t", "reason": "Clean", "score": 8}"#);
    let steps = ChatResponse::new(r#"{"thought": "t", "steps": ["one"]}"#);
    let one = client([cut(r#"{"thought": "t", "reason": "Cl"#), judgement]);
    let list = client([cut(r#"{"thought": "t", "steps": ["one", "tw"#), steps]);

    for (client, method) in [
        (one, judge().into()),
        (list, Box::<dyn Method>::from(StrategyName::ChainOfThought)),
    ] {
        let trace = match Solver::new(client, method).solve("p").await {
            Ok(solved) => solved,
            // The script has no more replies.
            Err(error) => error.so_far().unwrap().clone(),
        };
        assert_eq!(
            complaints(&trace),
            "line 1: the reply ends inside the value; expected all of it; \
             the reply was cut off at the limit of tokens, so be shorter"
        );
    }
}

/// In lines, nothing in the text shows that its end is missing.
#[tokio::test]
async fn lines_at_the_limit_of_tokens_are_asked_for_again() {
    let cut = |reply: &str| ChatResponse::new(reply).with_finish_reason(FinishReason::Length);
    let methods: [(Box<dyn Method>, &str, &str); 3] = [
        (
            SelfConsistency {
                paths: 1,
                ..SelfConsistency::default()
            }
            .into(),
            "thought: The sum.\nanswer: 12",
            "thought: The sum.\nanswer: 1200 km",
        ),
        (
            StrategyName::React.into(),
            "thought: I know.\naction: finish\naction_input: 12",
            "thought: I know.\naction: finish\naction_input: 1200 km",
        ),
        (two_looks().into(), "12", "1200 km"),
    ];

    for (method, begun, whole) in methods {
        let name = method.strategy().name().to_owned();
        let mut replies = vec![cut(begun), ChatResponse::new(whole)];
        if name == "two_looks" {
            // A thought may be cut off.
            replies.insert(0, cut("Some hundreds, I gue"));
        }
        let client = ScriptedClient::new(replies);
        let solved = Solver::new(client, method).solve("How far?").await.unwrap();
        assert_eq!(solved.answer(), Some("1200 km"), "{name}");
        let complaint = "the reply was cut off at the limit of tokens, so be shorter";
        assert_eq!(complaints(&solved), complaint, "{name}");
    }
}

fn two_looks() -> Strategy {
    let stages = "problem: {description: The problem., prompt: State it., next: [first_look]}
        first_look: {description: A guess., prompt: Guess., next: [answer]}
        answer: {description: The answer., prompt: Look again and answer., final: true}";
    strategy("two_looks", stages)
}

const USABLE: &str =
    "{\n  \"thought\": \"It rhymes.\",\n  \"reason\": \"The rhyme is clean.\",\n  \"score\": 8\n}";

async fn outcome(format: Format, reply: &str) -> Outcome {
    let client = ScriptedClient::new([reply, USABLE]);
    let solver = Solver::new(client.clone(), judge()).with_format(format);
    let Ok(solved) = solver.solve("A poem.").await else {
        return Outcome::Refused;
    };

    let judged = solved.session().thoughts().last().unwrap();
    assert_eq!(judged.parameters["score"], 8, "{reply:.200}");
    match client.requests().len() {
        1 => Outcome::Read,
        _ => Outcome::AskedAgain,
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
