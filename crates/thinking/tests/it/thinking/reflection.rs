use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, Message, ReplyFormat,
    ScriptedClient, Usage,
};
use cogwork_thinking::{Generation, Reflection, Thinking};

use crate::thinking::{ask, reply, shown};

async fn reflected(reflection: Reflection, script: &ScriptedClient) -> Generation {
    Thinking::new(script.clone())
        .with_mode(reflection)
        .generate(ask("What is 19 + 23?"))
        .await
        .unwrap()
}

fn drafts(generation: &Generation) -> Vec<&str> {
    generation
        .report
        .drafts
        .iter()
        .map(|draft| &*draft.text)
        .collect()
}

#[tokio::test]
async fn rounds_go_on_to_their_limit_each_on_the_draft_before_it() {
    let script = ScriptedClient::new([
        reply("40", 10, 1),
        reply("41", 20, 1),
        reply("42", 20, 1),
        reply("43", 20, 1),
    ]);

    let generation = reflected(
        Reflection {
            rounds: 2,
            ..Reflection::new("Calculate again.")
        },
        &script,
    )
    .await;
    assert_eq!(generation.response.text(), "42");
    assert_eq!(generation.response.usage(), Some(Usage::new(50, 3)));
    assert_eq!(drafts(&generation), ["40", "41", "42"]);
    insta::assert_snapshot!(shown(&script.requests()[2]), @r"
    [system] Be brief.
    [user] What is 19 + 23?
    [assistant] 41
    [user] Calculate again.
    ");

    insta::assert_snapshot!(generation.report, @r"
    after reflection: replaced (2 calls, 42 tokens)
    3 drafts, 3 calls, 53 tokens
    ");
}

#[tokio::test]
async fn a_round_without_a_change_is_the_last() {
    let script = ScriptedClient::new(["41", "42", " 42\n", "43"]);
    let generation = reflected(
        Reflection {
            rounds: 9,
            ..Reflection::new("Calculate again.")
        },
        &script,
    )
    .await;
    assert_eq!(generation.response.text(), "42");
    assert_eq!(script.requests().len(), 3);
}

#[tokio::test]
async fn the_verdict_ends_it_and_the_model_is_told_of_it() {
    for approval in ["APPROVED", "**Approved.**", "approved\n\nIt is 42."] {
        let script = ScriptedClient::new(["41", "42", approval, "43"]);
        let generation = reflected(
            Reflection {
                rounds: 9,
                verdict: Some("APPROVED".to_owned()),
                ..Reflection::new("Calculate again.")
            },
            &script,
        )
        .await;

        assert_eq!(generation.response.text(), "42");
        let told = "[user] Calculate again.\n\nIf your answer needs no change, reply with APPROVED and nothing else.";
        assert!(shown(&script.requests()[1]).ends_with(told));
    }

    // What a model thinks aloud isn't part of its verdict.
    for approval in [
        "<think>APPROVED?\nNot sure.</think>\nAPPROVED",
        "Not sure.\n</think>APPROVED",
    ] {
        let script = ScriptedClient::new(["41", "42", approval, "43"]);
        let reflection = Reflection {
            rounds: 9,
            verdict: Some("APPROVED".to_owned()),
            ..Reflection::new("Calculate again.")
        };
        assert_eq!(reflected(reflection, &script).await.response.text(), "42");
    }

    let script = ScriptedClient::new(["41", "<think>APPROVED? No.</think>42"]);
    let generation = reflected(
        Reflection {
            verdict: Some("APPROVED".to_owned()),
            ..Reflection::new("Calculate again.")
        },
        &script,
    )
    .await;

    assert_eq!(generation.response.text(), "42");

    // The word inside a sentence is none.
    let script = ScriptedClient::new(["41", "It is not approved: 42."]);
    let generation = reflected(
        Reflection {
            verdict: Some("APPROVED".to_owned()),
            ..Reflection::new("Calculate again.")
        },
        &script,
    )
    .await;

    assert_eq!(generation.response.text(), "It is not approved: 42.");
}

/// Marks around a verdict do not count, so one of nothing but marks would be in every line of marks.
#[tokio::test]
async fn a_verdict_of_marks_is_only_itself() {
    for (reply, answer) in [
        ("✓", "a draft"),
        (" ✓\n", "a draft"),
        ("---\nbetter", "---\nbetter"),
        ("✗", "✗"),
    ] {
        let script = ScriptedClient::new(["a draft", reply]);
        let generation = reflected(
            Reflection {
                verdict: Some("✓".to_owned()),
                ..Reflection::new("Better?")
            },
            &script,
        )
        .await;
        assert_eq!(generation.response.text(), answer);
    }
}

#[tokio::test]
async fn a_round_that_fails_leaves_the_draft_of_the_round_before() {
    let busy = || LlmError::new(LlmErrorKind::Overloaded, "busy");
    let script = ScriptedClient::new(["40", "41"]).then(busy()).then("43");
    let generation = reflected(
        Reflection {
            rounds: 3,
            ..Reflection::new("Calculate again.")
        },
        &script,
    )
    .await;
    assert_eq!(generation.response.text(), "41");
    assert_eq!(drafts(&generation), ["40", "41"]);
    assert_eq!(script.requests().len(), 3);
}

#[tokio::test]
async fn an_empty_draft_is_not_reflected_on() {
    let script = ScriptedClient::new([" "]);
    let generation = reflected(Reflection::new("Calculate again."), &script).await;
    assert_eq!(generation.response.text(), " ");
    let failures: Vec<_> = generation.report.failures().collect();

    assert_eq!(
        failures,
        [(
            "reflection",
            "the draft is empty; expected a text to work on"
        )]
    );
}

#[tokio::test]
async fn the_settings_of_the_request_hold_for_what_takes_the_place_of_the_draft() {
    let request = ChatRequest::new([Message::user("?")])
        .with_format(ReplyFormat::Json)
        .with_stop(["###"])
        .with_max_tokens(50)
        .with_temperature(0.1);

    let script = ScriptedClient::new([ChatResponse::new("{}"), ChatResponse::new("[]")]);
    Thinking::new(script.clone())
        .with_mode(Reflection::new("Again."))
        .complete(request.clone())
        .await
        .unwrap();

    let seen = &script.requests()[1];
    assert_eq!(
        seen.clone().with_messages(request.messages().clone()),
        request
    );
}
