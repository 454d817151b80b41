//! Replies held to their form by the server: where a node begins, how it falls, what it remembers and says.

use cogwork_cot::{ChainOfThought, Prompts, Reasoning, ReasoningEvent};
use cogwork_flow::watch::{EventKind, events};
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatRequest, LlmError, LlmErrorKind as Kind, ReplyFormat, ScriptedClient};
use cogwork_typed::ask::Format;
use insta::assert_snapshot;

use crate::node::support::{FIRST, LAST, SECOND, cot_error, read, reasoning, run, solve, source};

/// A client of a server that can hold replies to schemas and to JSON.
fn holding(script: ScriptedClient) -> ScriptedClient {
    let can = Capabilities::none().with(Capability::JsonSchema);
    script.with_capabilities(can.with(Capability::JsonMode))
}

/// A reply in the form that a server gives that is held to JSON.
fn json(yaml: &str) -> String {
    serde_json::to_string(&read(yaml)).unwrap()
}

fn refusal() -> LlmError {
    let message = "this response_format is unavailable now";
    LlmError::new(Kind::InvalidRequest, message).with_status(400)
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
        let can = capabilities.iter();
        let can = can.fold(Capabilities::none(), |all, one| all.with(*one));
        let reply = match expected {
            Text => LAST.to_owned(),
            _ => json(LAST),
        };
        let client = ScriptedClient::new([reply]).with_capabilities(can);
        let reasoning = solve(ChainOfThought::new(client.clone()).with_format(format)).await;

        assert_eq!(asked(&client), [expected], "{capabilities:?} {format:?}");
        assert_eq!(reasoning.answer(), Some("150"));
        let trace = &reasoning.thoughts()[0].trace;
        let noted = (trace.format, trace.refusals.len(), trace.repairs.len());
        assert_eq!(noted, (expected, 0, 0));
    }
}

#[tokio::test]
async fn a_refused_format_leads_to_the_next_and_is_no_ask_again() {
    use Format::{FlatSchema, Json, Schema, Text};

    let script = ScriptedClient::new([refusal(), refusal(), refusal()]);
    let client = holding(script.then(FIRST).then(LAST));
    let reasoning = solve(ChainOfThought::new(client.clone()).with_asks_again(0)).await;
    assert_eq!(asked(&client), [Schema, FlatSchema, Json, Text, Text]);

    // One conversation for all that ask for JSON; in the end, what a client without capabilities is asked.
    let requests = client.requests();
    assert_eq!(requests[0].messages(), requests[1].messages());
    assert_eq!(requests[0].messages(), requests[2].messages());
    let plain = ScriptedClient::new([FIRST, LAST]);
    solve(ChainOfThought::new(plain.clone())).await;
    assert_eq!(requests[3..], plain.requests()[..]);

    let [trace, later] = [0, 1].map(|index| &reasoning.thoughts()[index].trace);
    assert_eq!((trace.format, trace.tries.len()), (Text, 1));
    assert_eq!((later.format, later.refusals.len()), (Text, 0));
    let refusals = trace.refusals.iter();
    let refused = refusals.map(|refusal| format!("{}: {}", refusal.format, refusal.error));
    assert_snapshot!(refused.collect::<Vec<_>>().join("\n"), @r"
    JSON Schema: invalid request: this response_format is unavailable now (status 400)
    flat JSON Schema: invalid request: this response_format is unavailable now (status 400)
    JSON mode: invalid request: this response_format is unavailable now (status 400)
    ");

    let saved = serde_json::to_string(&reasoning).unwrap();
    let expected = r#""refusals":[{"format":"schema","error":"invalid request: "#;
    assert!(saved.contains(expected), "{saved}");
    assert_eq!(
        serde_json::from_str::<Reasoning>(&saved).unwrap(),
        reasoning
    );
}

#[tokio::test]
async fn the_format_is_remembered_over_turns_clones_and_runs() {
    use Format::{FlatSchema, Schema};

    let script = ScriptedClient::new([refusal()]);
    let replies = [FIRST, LAST, LAST, LAST, LAST];
    let script = replies.iter().fold(script, |all, one| all.then(json(one)));
    let client = holding(script);
    let node = ChainOfThought::new(client.clone());
    let clone = node.clone().with_asks_again(0);
    for node in [node.clone(), clone, node.clone()] {
        solve(node).await;
    }

    // One told anew where to begin, or made anew, knows nothing of it.
    solve(node.with_format(None)).await;
    let [first, last] = [[Schema]; 2];
    let expected = [&first[..], &[FlatSchema; 4], &last].concat();
    assert_eq!(asked(&client), expected);
}

#[tokio::test]
async fn only_a_refusal_of_the_form_is_one() {
    let error = LlmError::new;
    for (error, is_refusal) in [
        (
            error(Kind::Authentication, "no key").with_status(401),
            false,
        ),
        (
            error(Kind::ContextLength, "too long").with_status(400),
            false,
        ),
        (error(Kind::Timeout, "schema"), false),
        (
            error(Kind::InvalidRequest, "no such model").with_status(404),
            false,
        ),
        (
            error(Kind::InterruptedStream, "grammar").with_text_so_far("{"),
            false,
        ),
        (
            error(Kind::InvalidRequest, "schema").with_text_so_far("{"),
            false,
        ),
        (error(Kind::InvalidRequest, "bad").with_status(400), true),
        (error(Kind::InvalidRequest, "a client doesn't do it"), true),
        (
            error(Kind::InvalidRequest, "no response_format").with_status(404),
            true,
        ),
        (
            error(Kind::Server, "invalid JSON schema in format").with_status(500),
            true,
        ),
        (
            error(Kind::Server, "failed")
                .with_status(500)
                .with_body("failed to parse grammar"),
            true,
        ),
    ] {
        let shown = error.to_string();
        let client = holding(ScriptedClient::new([error]).then(json(LAST)));
        let (_, ended) = run(ChainOfThought::new(client.clone())).await;

        match ended {
            Ok(()) => assert_eq!(asked(&client), [Format::Schema, Format::FlatSchema]),
            Err(error) => {
                let error = cot_error(&error);
                assert_eq!(source::<LlmError>(error).to_string(), shown);
                assert_eq!((asked(&client).len(), error.trace().refusals.len()), (1, 0));
            }
        }
        assert_eq!(client.requests().len() == 2, is_refusal, "{shown}");
    }
}

#[tokio::test]
async fn watchers_are_told() {
    let odd = refusal().with_request_id("a\nb");
    let client = holding(ScriptedClient::new([odd]).then(json(LAST)));
    let flow = ChainOfThought::new(client).into_flow();
    let (sink, mut told) = events(100);
    let mut run = flow.begin().with_events(sink);
    run.finish(&mut reasoning()).await.unwrap();
    drop(run);

    let mut lines = Vec::new();
    while let Some(event) = told.next().await {
        match event.kind {
            EventKind::Noted { text, .. } => lines.push(text),
            EventKind::Reported { report } if report.downcast_ref::<ReasoningEvent>().is_some() => {
                lines.push(report.to_json().unwrap());
            }
            _ => {}
        }
    }
    lines.retain(|line| line.contains("refused"));
    lines.sort();
    assert_snapshot!(lines.join("\n"), @r#"
    the server refused JSON Schema, trying flat JSON Schema: invalid request: this response_format is unavailable now (status 400, request a\nb)
    {"type":"format_refused","thought":1,"refused":"schema","next":"flat_schema","error":"invalid request: this response_format is unavailable now (status 400, request a\\nb)"}
    "#);
}

#[tokio::test]
async fn a_schema_that_cannot_hold_the_last_plan_is_passed_over() {
    let step = "{description: a, status: Pending}";
    let nested = |levels: usize| {
        (1..levels).fold(step.to_owned(), |inner, _| {
            format!("{{description: a, status: Pending, sub_steps: [{inner}]}}")
        })
    };
    let long = format!("{{description: {}, status: Pending}}", "a".repeat(100));

    for (steps, expected) in [
        (nested(3), Format::Schema),
        (nested(4), Format::Json),
        ([step; 6].join(", "), Format::FlatSchema),
        (long, Format::FlatSchema),
    ] {
        let first = format!("current_thinking: x\nplanning: [{steps}]\nnext_thought_needed: true");
        let script = ScriptedClient::new([first, json(SECOND), json(LAST)]);
        let client = holding(script);
        solve(ChainOfThought::new(client.clone())).await;

        // Nothing was refused, so the next turn may begin above.
        assert_eq!(asked(&client), [Format::Schema, expected, Format::Schema]);
    }
}

#[tokio::test]
async fn prompts_without_words_for_json_and_requests_with_a_format_keep_to_yaml() {
    let mut prompts = Prompts::english();
    prompts.json = None;
    let mine = ReplyFormat::schema("mine", "{}");
    let request = ChatRequest::default().with_format(mine.clone());

    for is_mine in [false, true] {
        let client = holding(ScriptedClient::new([LAST]));
        let node = ChainOfThought::new(client.clone());
        solve(match is_mine {
            true => node.with_request(request.clone()),
            false => node.with_prompts(prompts.clone()),
        })
        .await;

        let requests = client.requests();
        assert_eq!(requests.len(), 1);
        assert_eq!(requests[0].format(), is_mine.then_some(&mine));
        let mut messages = requests[0].messages().iter();
        assert!(messages.any(|message| message.text().contains("```yaml")));
    }
}
