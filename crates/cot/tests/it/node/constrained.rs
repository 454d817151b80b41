//! Replies held to their form by the server: where a node begins, how it falls, what it remembers and says.

use cogwork_cot::{ChainOfThought, Prompts, Reasoning, ReasoningEvent};
use cogwork_flow::watch::{EventKind, events};
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatRequest, LlmError, LlmErrorKind as Kind, ReplyFormat, ScriptedClient};
use cogwork_typed::ask::Format;
use insta::assert_snapshot;

use crate::node::support::{FIRST, LAST, PROBLEM, SECOND, cot_error, read, reasoning, solve};

fn all() -> Capabilities {
    Capabilities::none()
        .with(Capability::JsonSchema)
        .with(Capability::JsonMode)
}

/// A reply in the form that a server gives that is held to JSON.
fn json(yaml: &str) -> String {
    serde_json::to_string(&read(yaml)).unwrap()
}

fn refusal() -> LlmError {
    LlmError::new(
        Kind::InvalidRequest,
        "this response_format is unavailable now",
    )
    .with_status(400)
}

/// How each request asked.
fn asked(client: &ScriptedClient) -> Vec<Format> {
    client.requests().iter().map(format_of).collect()
}

fn format_of(request: &ChatRequest) -> Format {
    match request.format() {
        None => Format::Text,
        Some(ReplyFormat::Json) => Format::Json,
        Some(ReplyFormat::Schema { name, schema }) => {
            assert_eq!(&**name, "reply");
            match schema.contains("maxLength") {
                true => Format::Schema,
                false => Format::FlatSchema,
            }
        }
        Some(other) => panic!("not one of ours: {other:?}"),
    }
}

#[tokio::test]
async fn a_node_begins_with_what_its_client_can() {
    use Capability::{JsonMode, JsonSchema, Streaming};
    use Format::{FlatSchema, Json, Schema, Text};

    for (capabilities, format, expected) in [
        (&[Streaming][..], None, Text),
        (&[JsonMode], None, Json),
        (&[JsonSchema, JsonMode, Streaming], None, Schema),
        (&[JsonSchema, JsonMode], FlatSchema.into(), FlatSchema),
        (&[JsonSchema, JsonMode], Text.into(), Text),
        (&[], Schema.into(), Schema),
    ] {
        let capabilities = capabilities
            .iter()
            .fold(Capabilities::none(), |all, one| all.with(*one));
        let reply = if expected == Format::Text {
            LAST.to_owned()
        } else {
            json(LAST)
        };

        let client = ScriptedClient::new([reply]).with_capabilities(capabilities);
        let node = ChainOfThought::new(client.clone()).with_format(format);
        let reasoning = solve(node).await;
        assert_eq!(asked(&client), [expected], "{capabilities:?} {format:?}");

        let trace = reasoning.thoughts()[0].trace();
        assert_eq!(
            (trace.format, trace.refusals.len(), trace.repairs.len()),
            (expected, 0, 0)
        );
        assert_eq!(reasoning.answer(), Some("150"));
    }
}

#[tokio::test]
async fn a_refused_format_leads_to_the_next_and_is_no_ask_again() {
    let script = ScriptedClient::new([refusal(), refusal(), refusal()])
        .then(FIRST)
        .then(LAST);
    let client = script.with_capabilities(all());
    let node = ChainOfThought::new(client.clone()).with_asks_again(0);
    let reasoning = solve(node).await;

    use Format::{FlatSchema, Json, Schema, Text};
    assert_eq!(asked(&client), [Schema, FlatSchema, Json, Text, Text]);

    // One conversation for all that ask for JSON; in the end, what a client without capabilities is asked.
    let requests = client.requests();
    assert_eq!(requests[0].messages(), requests[1].messages());
    assert_eq!(requests[0].messages(), requests[2].messages());
    let plain = ScriptedClient::new([FIRST, LAST]);

    ChainOfThought::new(plain.clone())
        .into_flow()
        .run(&mut Reasoning::new(PROBLEM))
        .await
        .unwrap();

    assert_eq!(requests[3..], plain.requests()[..]);

    let trace = reasoning.thoughts()[0].trace();
    assert_eq!((trace.format, trace.tries.len()), (Text, 1));
    let refused: Vec<String> = trace
        .refusals
        .iter()
        .map(|refusal| format!("{}: {}", refusal.format, refusal.error))
        .collect();

    assert_snapshot!(refused.join("\n"), @r"
    JSON Schema: invalid request: this response_format is unavailable now (status 400)
    flat JSON Schema: invalid request: this response_format is unavailable now (status 400)
    JSON mode: invalid request: this response_format is unavailable now (status 400)
    ");

    let later = reasoning.thoughts()[1].trace();
    assert_eq!((later.format, later.refusals.len()), (Text, 0));

    let saved = serde_json::to_string(&reasoning).unwrap();
    assert!(
        saved.contains(r#""refusals":[{"format":"schema","error":"invalid request: "#),
        "{saved}"
    );
    assert_eq!(Reasoning::from_json(&saved).unwrap(), reasoning);
}

#[tokio::test]
async fn the_format_is_remembered_over_turns_clones_and_runs() {
    let script = ScriptedClient::new([refusal()]);
    let script = [FIRST, LAST, LAST, LAST]
        .iter()
        .fold(script, |script, reply| script.then(json(reply)));
    let client = script.then(json(LAST)).with_capabilities(all());
    let node = ChainOfThought::new(client.clone());
    let clone = node.clone().with_asks_again(0);

    solve(node.clone()).await;

    solve(clone).await;
    solve(node.clone()).await;

    // One told anew where to begin, or made anew, knows nothing of it.
    solve(node.with_format(None)).await;

    use Format::{FlatSchema, Schema};

    assert_eq!(
        asked(&client),
        [
            Schema, FlatSchema, FlatSchema, FlatSchema, FlatSchema, Schema
        ]
    );
}

#[tokio::test]
async fn only_a_refusal_of_the_form_is_one() {
    let error = LlmError::new;
    let kept = [
        error(Kind::Authentication, "no key").with_status(401),
        error(Kind::ContextLength, "too long").with_status(400),
        error(Kind::Timeout, "schema"),
        error(Kind::InvalidRequest, "no such model").with_status(404),
        error(Kind::InterruptedStream, "grammar").with_text_so_far("{"),
        error(Kind::InvalidRequest, "schema").with_text_so_far("{"),
    ];

    for error in kept {
        let shown = error.to_string();
        let client = ScriptedClient::new([error]).with_capabilities(all());
        let failed = ChainOfThought::new(client.clone())
            .into_flow()
            .run(&mut reasoning())
            .await
            .unwrap_err();

        assert_eq!(cot_error(&failed).llm_error().unwrap().to_string(), shown);
        assert_eq!(
            (
                asked(&client).len(),
                cot_error(&failed).trace().refusals.len()
            ),
            (1, 0),
            "{shown}"
        );
    }

    let refused = [
        error(Kind::InvalidRequest, "bad").with_status(400),
        error(Kind::InvalidRequest, "a user's own client doesn't do it"),
        error(Kind::InvalidRequest, "no endpoint takes response_format").with_status(404),
        error(Kind::Server, "invalid JSON schema in format").with_status(500),
        error(Kind::Server, "the server failed")
            .with_status(500)
            .with_body("failed to parse grammar"),
    ];

    for error in refused {
        let shown = error.to_string();
        let client = ScriptedClient::new([error])
            .then(json(LAST))
            .with_capabilities(all());
        solve(ChainOfThought::new(client.clone())).await;

        assert_eq!(
            asked(&client),
            [Format::Schema, Format::FlatSchema],
            "{shown}"
        );
    }
}

#[tokio::test]
async fn watchers_are_told() {
    let odd = refusal().with_request_id("a\nb");
    let client = ScriptedClient::new([odd])
        .then(json(LAST))
        .with_capabilities(all());
    let flow = ChainOfThought::new(client).into_flow();
    let (sink, mut told) = events(100);

    flow.begin()
        .with_events(sink)
        .finish(&mut reasoning())
        .await
        .unwrap();

    let mut notes = Vec::new();
    let mut refusals = Vec::new();
    while let Some(event) = told.next().await {
        match event.kind {
            EventKind::Noted { text } => notes.push(text),
            EventKind::Reported { report } if report.downcast_ref::<ReasoningEvent>().is_some() => {
                refusals.extend(
                    Some(report.to_json().unwrap()).filter(|json| json.contains("refused")),
                );
            }
            _ => {}
        }
    }

    assert_eq!(
        refusals,
        [
            r#"{"type":"format_refused","thought":1,"refused":"schema","next":"flat_schema","error":"invalid request: this response_format is unavailable now (status 400, request a\\nb)"}"#
        ]
    );
    assert_eq!(
        notes,
        [
            "the server refused JSON Schema, trying flat JSON Schema: invalid request: this response_format is unavailable now (status 400, request a\\nb)"
        ]
    );
}

#[tokio::test]
async fn a_schema_that_cannot_hold_the_last_plan_is_passed_over() {
    let plan = |steps: String| {
        format!("current_thinking: x\nplanning: [{steps}]\nnext_thought_needed: true")
    };

    let nested = |levels: usize| {
        (1..levels).fold(
            "{description: a, status: Pending}".to_owned(),
            |inner, _| format!("{{description: a, status: Pending, sub_steps: [{inner}]}}"),
        )
    };

    let many = ["{description: a, status: Pending}"; 6].join(", ");
    let long = format!("{{description: {}, status: Pending}}", "a".repeat(100));
    for (steps, expected) in [
        (nested(3), Format::Schema),
        (nested(4), Format::Json),
        (many, Format::FlatSchema),
        (long, Format::FlatSchema),
    ] {
        let client = ScriptedClient::new([plan(steps)])
            .then(json(SECOND))
            .then(json(LAST));
        let client = client.with_capabilities(all());
        solve(ChainOfThought::new(client.clone())).await;

        // Nothing was refused, so the next turn may begin above.
        assert_eq!(asked(&client), [Format::Schema, expected, Format::Schema]);
    }
}

#[tokio::test]
async fn prompts_without_words_for_json_and_requests_with_a_format_keep_to_yaml() {
    let mut prompts = Prompts::english();
    prompts.json = None;
    let client = ScriptedClient::new([LAST]).with_capabilities(all());
    let node = ChainOfThought::new(client.clone()).with_prompts(prompts);

    solve(node).await;
    assert_eq!(asked(&client), [Format::Text]);

    let client = ScriptedClient::new([LAST]).with_capabilities(all());
    let mine = ReplyFormat::schema("mine", "{}");
    let node = ChainOfThought::new(client.clone())
        .with_request(ChatRequest::default().with_format(mine.clone()));
    solve(node).await;

    let requests = client.requests();
    assert_eq!((requests.len(), requests[0].format()), (1, Some(&mine)));
    assert!(
        requests[0]
            .messages()
            .iter()
            .any(|message| message.text().contains("```yaml"))
    );
}
