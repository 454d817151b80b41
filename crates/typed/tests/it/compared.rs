//! What BAML, PydanticAI and instructor correct or ask for again. Each case is either corrected with
//! a report, or asked for again with a place: what could be something else than what was meant isn't
//! guessed.

use std::collections::BTreeMap;

use cogwork_llm::{ChatResponse, FinishReason, ScriptedClient};
use cogwork_typed::{AnswerProblemKind as Kind, AnswerReader, Model};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Ticket {
    title: String,
    priority: u8,
    hours: f64,
    is_open: bool,
    label: Label,
    tags: Vec<String>,
    counts: BTreeMap<String, u8>,
    due: Option<u8>,
    owner: Option<Owner>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Owner {
    name: String,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
enum Label {
    /// Something that worked before.
    BugReport,
    Wish,
}

const TICKET: &str = r#"{"title": "x", "priority": 3, "hours": 1.5, "is_open": true, "label": "BugReport", "tags": ["a"], "counts": {"n": 1}, "due": null, "owner": null}"#;

fn ticket() -> Ticket {
    Ticket {
        title: "x".to_owned(),
        priority: 3,
        hours: 1.5,
        is_open: true,
        label: Label::BugReport,
        tags: vec!["a".to_owned()],
        counts: [("n".to_owned(), 1)].into(),
        due: None,
        owner: None,
    }
}

fn with(part: &str, other: &str) -> String {
    let text = TICKET.replace(part, other);
    assert_ne!(text, TICKET, "{part}");
    text
}

#[test]
fn what_others_correct_is_corrected_and_reported() {
    let corrected = [
        // The value in other text.
        (
            "Markdown around the value",
            format!("Here:\n```json\n{TICKET}\n```\nDone."),
        ),
        (
            "prose around the value",
            format!("Sure! {TICKET} Anything else?"),
        ),
        ("an unfinished fence", format!("```json\n{TICKET}")),
        ("JSON in a text", serde_json::json!(TICKET).to_string()),
        ("a list around the value", format!("[{TICKET}]")),
        (
            "a key around the value",
            format!("{{\"ticket\": {TICKET}}}"),
        ),
        // Malformed JSON.
        ("a trailing comma", with("null}", "null,}")),
        ("missing quotes", with("\"title\"", "title")),
        ("single quotes", with("\"x\"", "'x'")),
        ("typographic quotes", with("\"x\"", "“x”")),
        ("a missing comma", with("\"x\", ", "\"x\" ")),
        ("comments", with("\"x\", ", "\"x\", // the title\n")),
        (
            "literals of Python",
            with("true", "True").replace("null", "None"),
        ),
        // Other types.
        ("a number in a text", with("3", "\"3\"")),
        ("a float without a fraction", with("3", "3.0")),
        ("a float in a text", with("1.5", "\"1.5\"")),
        ("a currency", with("1.5", "\"$1.50\"")),
        ("a truth value in a text", with("true", "\"yes\"")),
        (
            "a word for null",
            with("\"due\": null", "\"due\": \"None\""),
        ),
        ("a single value for a list", with("[\"a\"]", "\"a\"")),
        ("a list for a single value", with("\"x\"", "[\"x\"]")),
        // Other names.
        ("a variant in another case", with("BugReport", "bug-report")),
        ("a key in another case", with("is_open", "isOpen")),
        (
            "an extra key",
            with("{\"title\"", "{\"reason\": \"so\", \"title\""),
        ),
    ];

    let mut reports = Vec::new();
    for (what, reply) in corrected {
        let read = AnswerReader::<Ticket>::new().read(&reply);
        let read = read.unwrap_or_else(|problem| panic!("{what}: {problem}"));
        assert_eq!(read.value, ticket(), "{what}");

        let repairs: Vec<String> = read.repairs.iter().map(ToString::to_string).collect();
        reports.push(format!("{what}: {}", repairs.join("; ")));
    }
    insta::assert_debug_snapshot!(reports);

    // Other parts may be missing as well.
    let open = TICKET.strip_suffix('}').unwrap();
    assert!(AnswerReader::<Ticket>::new().read(open).is_err());

    let missing = with(", \"due\": null, \"owner\": null", "");
    let read = AnswerReader::<Ticket>::new().read(&missing).unwrap();
    assert_eq!(read.value, ticket());
}

/// Others drop, round or invent a part of these, or guess which one was meant.
#[test]
fn what_would_be_a_guess_is_asked_for_again_with_its_place() {
    let refused = [
        ("rounding a fraction", with("3", "3.7")),
        ("a fraction", with("1.5", "\"3/2\"")),
        ("a number in a sentence", with("1.5", "\"about 1.5 hours\"")),
        ("a percentage", with("1.5", "\"150%\"")),
        ("dropping an item of a list", with("[\"a\"]", "[\"a\", {}]")),
        (
            "dropping an entry of a map",
            with("{\"n\": 1}", "{\"n\": 1, \"m\": \"many\"}"),
        ),
        (
            "an empty list for a missing one",
            with("\"tags\": [\"a\"], ", ""),
        ),
        (
            "an empty map for a missing one",
            with("\"counts\": {\"n\": 1}, ", ""),
        ),
        (
            "null for what cannot be read",
            with("\"due\": null", "\"due\": \"soon\""),
        ),
        (
            "a variant in a sentence",
            with("\"BugReport\"", "\"It is a BugReport.\""),
        ),
        (
            "a variant by its description",
            with("\"BugReport\"", "\"Something that worked before\""),
        ),
        (
            "an object for its only key",
            with("\"owner\": null", "\"owner\": \"Ann\""),
        ),
        ("the first of several values", with("3", "[3, 4]")),
        ("a constraint of the type", with("3", "300")),
    ];

    let mut places = Vec::new();
    for (what, reply) in refused {
        let problem = AnswerReader::<Ticket>::new().read(&reply).unwrap_err();
        places.push(format!("{what}: {problem}"));
    }
    insta::assert_debug_snapshot!(places);
}

/// What they retry: an empty reply, prose, a validation error, a validator of the program, a call of
/// an unknown tool, and output that was cut off.
#[tokio::test]
async fn what_others_ask_for_again_is_asked_for_again() {
    let cut = ChatResponse::new(&TICKET[..60]).with_finish_reason(FinishReason::Length);
    let script = ScriptedClient::default()
        .then("")
        .then("I will look into it.")
        .then(with("true", "\"maybe\""))
        .then(cut)
        .then(with("\"x\"", "\"\""))
        .then(TICKET);
    let model = Model::<Ticket>::typed(script.clone())
        .with_asks_again(5)
        .with_check(|ticket| match ticket.title.as_str() {
            "" => Err("the title is empty".to_owned()),
            _ => Ok(()),
        });

    let answered = model.ask("What is wrong?").await.unwrap();
    assert_eq!(answered.value, ticket());

    let complaints = answered.log.tries.iter();
    let complaints: Vec<_> = complaints.filter_map(|one| one.complaint.clone()).collect();
    insta::assert_debug_snapshot!(complaints);

    let never = Model::<Ticket>::typed(ScriptedClient::new(["No.", "No."])).with_asks_again(1);
    let error = never.ask("What is wrong?").await.unwrap_err();
    assert_eq!(
        error.problem().map(|problem| problem.kind()),
        Some(Kind::NoValue)
    );
    assert_eq!(error.log().tries.len(), 2);
}
