use cogwork_llm::{
    ChatRequest, ChatResponse, LlmError, LlmErrorKind, Message, ReplyFormat, ScriptedClient, Usage,
};
use cogwork_thinking::{Generation, Reflection};

use crate::thinking::{ask, failures, generated, reply, shown};

/// A reflection of at most this many rounds, which the verdict ends.
fn reflection(rounds: u32, verdict: Option<&str>) -> Reflection {
    Reflection {
        rounds,
        verdict: verdict.map(str::to_owned),
        ..Reflection::new("Calculate again.")
    }
}

async fn reflected(reflection: Reflection, script: &ScriptedClient) -> Generation {
    generated(script, reflection, ask("What is 19 + 23?")).await
}

fn drafts(generation: &Generation) -> Vec<&str> {
    let drafts = generation.report.drafts.iter();
    drafts.map(|draft| &*draft.text).collect()
}

#[tokio::test]
async fn rounds_go_on_to_their_limit_each_on_the_draft_before_it() {
    let first = [reply("40", 10, 1)];
    let others = ["41", "42", "43"].map(|text| reply(text, 20, 1));
    let script = ScriptedClient::new(first.into_iter().chain(others));
    let generation = reflected(reflection(2, None), &script).await;

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
async fn the_verdict_or_a_round_without_a_change_ends_it() {
    let approved = Some("APPROVED");
    for (verdict, replies, answer, calls) in [
        (None, &["41", "42", " 42\n", "43"][..], "42", 3),
        (approved, &["41", "42", "APPROVED", "43"], "42", 3),
        (approved, &["41", "42", "**Approved.**", "43"], "42", 3),
        (approved, &["41", "42", "approved\n\nIt is 42."], "42", 3),
        // What a model thinks aloud isn't part of its verdict.
        (approved, &["41", "<think>No.</think>\nAPPROVED"], "41", 2),
        (approved, &["41", "Not sure.\n</think>APPROVED"], "41", 2),
        (
            approved,
            &["41", "<think>APPROVED?</think>42", "APPROVED"],
            "42",
            3,
        ),
        // The word inside a sentence isn't the verdict.
        (
            approved,
            &["41", "Not approved: 42.", "APPROVED"],
            "Not approved: 42.",
            3,
        ),
        // Marks around a verdict don't count, so one of nothing but marks would be in every line of
        // marks.
        (Some("✓"), &["41", " ✓\n"], "41", 2),
        (Some("✓"), &["41", "---\n42", "✓"], "---\n42", 3),
        (Some("✓"), &["41", "✗", "✓"], "✗", 3),
    ] {
        let script = ScriptedClient::new(replies.iter().copied());
        let generation = reflected(reflection(9, verdict), &script).await;
        assert_eq!(generation.response.text(), answer, "{replies:?}");
        assert_eq!(script.requests().len(), calls, "{replies:?}");

        let told = shown(&script.requests()[1]);
        let verdict = verdict.map(|word| {
            format!("\n\nIf your answer needs no change, reply with {word} and nothing else.")
        });
        let prompt = format!("[user] Calculate again.{}", verdict.unwrap_or_default());
        assert!(told.ends_with(&prompt), "{told}");
    }
}

#[tokio::test]
async fn a_round_that_fails_leaves_the_draft_of_the_round_before() {
    let busy = LlmError::new(LlmErrorKind::Overloaded, "busy");
    let script = ScriptedClient::new(["40", "41"]).then(busy).then("43");
    let generation = reflected(reflection(3, None), &script).await;
    assert_eq!(generation.response.text(), "41");
    assert_eq!(drafts(&generation), ["40", "41"]);
    assert_eq!(script.requests().len(), 3);

    let script = ScriptedClient::new([" "]);
    let generation = reflected(reflection(1, None), &script).await;
    assert_eq!(generation.response.text(), " ");
    let empty = "the draft is empty; expected a text to work on";
    assert_eq!(failures(&generation), [("reflection", empty)]);
}

#[tokio::test]
async fn the_settings_of_the_request_hold_for_what_takes_the_place_of_the_draft() {
    let request = ChatRequest::new([Message::user("?")])
        .with_format(ReplyFormat::Json)
        .with_stop(["###"])
        .with_max_tokens(50)
        .with_temperature(0.1);

    let script = ScriptedClient::new([ChatResponse::new("{}"), ChatResponse::new("[]")]);
    generated(&script, Reflection::new("Again."), request.clone()).await;
    let seen = script.requests()[1].clone();
    assert_eq!(seen.with_messages(request.messages().clone()), request);
}
