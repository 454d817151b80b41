//! JSON as models write it.

use cogwork_llm::{Capabilities, Capability, ChatResponse, FinishReason, Messages, ScriptedClient};
use cogwork_strategies::{
    Ask, Call, Format, Parameter, ParameterType, Solver, Strategies, StrategyName,
};

use crate::hostile_replies::{
    STRATEGY,
    replies::{Outcome, hostile_replies},
};

fn ask() -> Ask {
    let text = ParameterType::Text {
        choices: Vec::new(),
    };
    let list = ParameterType::List {
        items: Box::new(text),
        min_items: 1,
    };

    Ask::new(Messages::new(), "p")
        .with_field("steps", Parameter::new(list, "the steps"))
        .with_field("answer", Parameter::text("the answer"))
}

/// Returns the thought, the steps and the answer of a reply, or the problem.
fn read(reply: &str) -> String {
    match ask().read_on(Format::Schema, reply) {
        Ok(read) => format!(
            "{} | {} | {}",
            read.text,
            read.fields["steps"],
            read.field("answer")
        ),
        Err(problem) => problem,
    }
}

#[test]
fn malformed_json_is_read_if_its_meaning_is_clear() {
    let expected = r#"t | ["a","b"] | c"#;
    let replies = [
        r#"{"thought": "t", "steps": ["a", "b"], "answer": "c"}"#,
        r#"{"thought": "t", "steps": ["a", "b",], "answer": "c",}"#,
        r#"{"thought": "t" "steps": ["a", "b"] "answer": "c"}"#,
        r#"{"thought": "t", "steps": ["a" "b"], "answer": "c"}"#,
        r#"{"thought": "t", "steps": ["a", "b"], "answer": "c""#,
        r#"{"thought": "t", "steps": ["a", "b", "answer": "c"}"#,
        r#"{'thought': 't', 'steps': ['a', 'b'], 'answer': 'c'}"#,
        r#"{thought: t, steps: [a, b], answer: c}"#,
        r#"{“thought”: “t”, “steps”: [“a”, “b”], “answer”: “c”}"#,
        "{\"thought\": \"t\", // why\n\"steps\": [\"a\", \"b\"], \"answer\": \"c\"}",
        "```json\n{\"thought\": \"t\", \"steps\": [\"a\", \"b\"], \"answer\": \"c\"}\n```",
        "Sure {x}! Here:\n{\"thought\": \"t\", \"steps\": [\"a\", \"b\"], \"answer\": \"c\"}\nBye {y}.",
        "Hm.</think>{\"thought\": \"t\", \"steps\": [\"a\", \"b\"], \"answer\": \"c\"}",
        "<think>{\"answer\": \"x\"}</think>{\"Thought\": \"t\", \"STEPS\": [\"a\", \"b\"], \"Answer\": \"c\"}",
        "thought: t\nsteps:\n- a\n- b\nanswer: c",
    ];

    for reply in replies {
        let read = read(reply);
        if reply.contains("\"b\", \"answer\"") || reply.contains("\"a\" \"b\"") {
            // What the list contains cannot be told.
            assert!(read.starts_with("line 1"), "{reply}: {read}");
        } else {
            assert_eq!(read, expected, "{reply}");
        }
    }
}

#[test]
fn a_value_that_was_cut_off_is_not_used() {
    let cut = [
        r#"{"thought": "t", "steps": ["a"], "answer": "the begin"#,
        r#"{"thought": "t", "answer": "c", "steps": ["a", "the beg"#,
        r#"{"answer": "c", "steps": ["a"], "tho"#,
        r#"{"answer": "c", "steps": ["#,
        r#"{"answer": "c""#,
    ];
    for reply in cut {
        let expected = "line 1: the reply ends inside the value; expected all of it";
        assert_eq!(read(reply), expected, "{reply}");
    }

    let expected = "line 1: the reply has no JSON object; expected a JSON object with `thought`, `steps`, `answer`";
    assert_eq!(read("Well."), expected);
}

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

    let Some(Call::Model { repairs, .. }) = solved.trace().calls().last() else {
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

    let Some(Call::Model { tries, .. }) = solved.trace().calls().last() else {
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

    let Some(Call::Model { tries, .. }) = solved.trace().calls().first() else {
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
