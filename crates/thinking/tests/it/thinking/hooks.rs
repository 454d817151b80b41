use std::time::Duration;

use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError, LlmErrorKind, Message,
    ScriptedClient, ScriptedReply, ToolCall, ToolChoice, ToolDefinition,
};
use cogwork_thinking::{Draft, Hook, Reflection, Thinking, ThinkingError};
use cogwork_tools::{ToolError, Tools, function};
use cogwork_typed::Model;
use cogwork_typed::ask::Limits;
use serde_json::Value;

use crate::thinking::{after, ask, asking, before, failures, generated, reply, shown};

fn numbered(draft: &mut Draft, number: u32) -> Result<(), ThinkingError> {
    draft.set_text(format!("{} {number}", draft.text()));
    Ok(())
}

fn appends(draft: &mut Draft, text: &str) -> Result<(), ThinkingError> {
    draft.append(text);
    Ok(())
}

#[tokio::test]
async fn hooks_are_called_in_order_each_on_what_the_last_one_left() {
    let script = ScriptedClient::new(["draft"]);
    let client = Thinking::new(script.clone())
        .with_mode(before("one", |input| numbered(input, 1)))
        .with_mode(after("two", |draft| numbered(draft, 2)))
        .with_mode(before("three", |input| numbered(input, 3)))
        .with_mode(after("four", |draft| appends(draft, "4")));

    let generation = client.generate(ask("input")).await.unwrap();
    assert_eq!(
        shown(&script.requests()[0]),
        "[system] Be brief.\n[user] input 1 3"
    );
    assert_eq!(generation.response.text(), "draft 2\n\n4");
    insta::assert_snapshot!(generation.report, @r"
    before one: appended (0 calls, 0 tokens)
    before three: appended (0 calls, 0 tokens)
    after two: appended (0 calls, 0 tokens)
    after four: appended (0 calls, 0 tokens)
    3 drafts, 1 call, about 7 tokens
    ");
}

#[tokio::test]
async fn another_draft_is_asked_for_behind_the_one_there_is_and_without_tools() {
    let script = ScriptedClient::new([reply("long draft", 10, 2), reply("short", 20, 1)]);
    let brief = asking(Hook::After, |draft| {
        Box::pin(async move {
            while draft.text().len() > 5 {
                draft.try_again("Shorter.").await?;
            }
            Ok(())
        })
    });

    let request = ask("?").with_tools([ToolDefinition::new("weather", "The weather.", "{}")]);
    let generation = generated(&script, brief, request).await;
    let again = &script.requests()[1];
    assert_eq!(
        shown(again),
        "[system] Be brief.\n[user] ?\n[assistant] long draft\n[user] Shorter."
    );
    assert_eq!(
        (again.tools().len(), again.tool_choice()),
        (1, Some(&ToolChoice::None))
    );
    assert_eq!(generation.response, reply("short", 30, 3));

    let drafts = generation.report.drafts.iter();
    let drafts: Vec<_> = drafts.map(|draft| &*draft.text).collect();
    assert_eq!(drafts, ["long draft", "short"]);
}

#[tokio::test]
async fn before_a_generation_there_is_nothing_to_try_again() {
    let early = asking(Hook::Before, |input| Box::pin(input.try_again("Again.")));
    let generation = generated(&ScriptedClient::new(["draft"]), early, ask("?")).await;
    assert_eq!(generation.response.text(), "draft");
    let told = "it requested a further draft before there was one";
    assert_eq!(failures(&generation), [("asking", told)]);
}

#[tokio::test]
async fn a_mode_may_refuse_the_request_or_the_answer() {
    let script = ScriptedClient::new(["a secret"]);
    let refuses = |_: &mut Draft| Err(ThinkingError::refused("it has secrets"));
    let mut told = Vec::new();
    for (mode, calls) in [(before("guard", refuses), 0), (after("guard", refuses), 1)] {
        let client = Thinking::new(script.clone()).with_mode(mode);
        told.push(client.complete(ask("?")).await.unwrap_err().to_string());
        assert_eq!(script.requests().len(), calls);
    }
    insta::assert_snapshot!(told.join("\n"), @"
    the thinking mode `guard` refused the request: it has secrets
    the thinking mode `guard` refused the answer: it has secrets
    ");
}

#[tokio::test]
async fn what_was_changed_before_a_failure_holds_and_the_next_hook_goes_on() {
    let failing = asking(Hook::After, |draft| {
        Box::pin(async move {
            draft.set_text("better");
            draft.try_again("Shorter.").await?;
            draft.set_text("best");
            Ok(())
        })
    });
    let busy = LlmError::new(LlmErrorKind::Overloaded, "busy");
    let script = ScriptedClient::new(["draft"]).then(busy).then("unused");
    let thinking = Thinking::new(script).with_mode(failing);
    let thinking = thinking.with_mode(after("next", |draft| numbered(draft, 1)));
    let generation = thinking.generate(ask("?")).await.unwrap();
    assert_eq!(generation.response.text(), "better 1");
    assert_eq!(failures(&generation), [("asking", "overloaded: busy")]);
}

#[tokio::test]
async fn metadata_goes_from_hook_to_hook_and_to_the_program_but_to_no_model() {
    let script = ScriptedClient::new(["draft"]);
    let client = Thinking::new(script.clone())
        .with_mode(before("marks", |input| {
            input.set_metadata("topic", "sky");
            Ok(())
        }))
        .with_mode(after("changes", |draft| {
            draft.set_text("other");
            Ok(())
        }))
        .with_mode(after("reads", |draft| {
            let text = format!("about the {}", draft.metadata()["topic"]);
            draft.append(&text);
            Ok(())
        }));

    let generation = client.generate(ask("?")).await.unwrap();
    assert_eq!(generation.response.text(), "other\n\nabout the \"sky\"");
    assert_eq!(generation.metadata["topic"], "sky");
    assert_eq!(script.requests(), [ask("?")]);
}

#[tokio::test]
async fn a_reply_with_calls_of_tools_is_no_draft_yet() {
    let draft = ChatResponse::new("I look.").with_tool_calls([ToolCall::new("1", "weather", "{}")]);
    let script = ScriptedClient::new([draft.clone()]);
    let adds = after("adds", |draft| appends(draft, "more"));
    let generation = generated(&script, adds, ask("?")).await;
    assert_eq!(generation.response, draft);
}

#[tokio::test]
async fn a_model_with_tools_and_modes_improves_the_answer_after_its_calls() {
    let call = ChatResponse::new("").with_tool_calls([ToolCall::new("1", "count", "{}")]);
    let script = ScriptedClient::default()
        .then(call)
        .then(r#"{"answer": 2}"#)
        .then(r#"{"answer": 3}"#);
    let client = Thinking::new(script.clone()).with_mode(Reflection::new("Again."));
    let count = function("count", "Counts.", |_: Value| async {
        Ok::<_, ToolError>("3")
    });

    let model = Model::<u32>::typed(client).with_tools(Tools::new().with(count).unwrap());
    assert_eq!(model.ask("How many?").await.unwrap().value, 3);
    assert_eq!(script.requests().len(), 3);
}

#[tokio::test]
async fn a_cut_off_draft_stays_one_when_added_to_and_is_whole_when_replaced() {
    for (text, reason) in [
        ("Once upon", FinishReason::Length),
        ("The end.", FinishReason::Stop),
    ] {
        let cut = ChatResponse::new("Once upo")
            .with_finish_reason(FinishReason::Length)
            .with_model("m");
        let ends = after("ends", move |draft| {
            draft.set_text(text);
            Ok(())
        });
        let generation = generated(&ScriptedClient::new([cut]), ends, ask("?")).await;
        let response = generation.response;
        assert_eq!(
            (response.finish_reason(), response.model()),
            (&reason, Some("m"))
        );
    }
}

#[tokio::test]
async fn hooks_before_wait_for_a_message_of_the_user() {
    let call = ToolCall::new("1", "weather", "{}");
    let conversation = [
        Message::user("?"),
        Message::assistant("").with_tool_calls([call.clone()]),
        Message::tool_result(&call, "rain"),
    ];

    let script = ScriptedClient::new(["It rains."]);
    let adds = before("adds", |input| appends(input, "more"));
    generated(&script, adds, ChatRequest::new(conversation.clone())).await;
    assert_eq!(script.requests(), [ChatRequest::new(conversation)]);
}

#[tokio::test]
async fn calls_of_hooks_are_bounded_and_the_draft_is_kept() {
    let greedy = asking(Hook::After, |draft| {
        Box::pin(async move {
            loop {
                draft.client().complete(draft.request().clone()).await?;
            }
        })
    });
    let script = ScriptedClient::new((0..100).map(|number| number.to_string()));
    let client = Thinking::new(script.clone())
        .with_limits(Limits::default().with_calls(5))
        .with_mode(greedy);
    let generation = client.generate(ask("?")).await.unwrap();
    assert_eq!(generation.response.text(), "0");
    assert_eq!(script.requests().len(), 6);

    let told = "budget: the limit of 5 calls by hooks has been reached";
    assert_eq!(failures(&generation), [("asking", told)]);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_hooks_is_bounded_for_all_of_them_together() {
    let adds_a_reply = || {
        asking(Hook::After, |draft| {
            Box::pin(async move {
                let reply = draft.ask(draft.request().clone()).await?;
                draft.append(reply.text());
                Ok(())
            })
        })
    };
    let slow = |text: &str| ScriptedReply::from(text).after(Duration::from_secs(40));

    // The draft takes its own time.
    let script = ScriptedClient::new([slow("draft"), slow("one"), slow("two")]);
    let limits = Limits::default().with_time(Duration::from_secs(60));
    let client = Thinking::new(script)
        .with_limits(limits)
        .with_mode(adds_a_reply())
        .with_mode(adds_a_reply());
    let begun = tokio::time::Instant::now();
    let generation = client.generate(ask("?")).await.unwrap();

    assert_eq!(begun.elapsed(), Duration::from_secs(100));
    assert_eq!(generation.response.text(), "draft\n\none");
    let told = "thinking took longer than 60s";
    assert_eq!(failures(&generation), [("asking", told)]);
}

#[tokio::test]
async fn blocks_that_a_hook_adds_are_for_the_program() {
    let chart = Block::image("image/png", "iVBORw0KGgo=");
    let drawn = chart.clone();
    let script = ScriptedClient::new(["draft", "better"]);
    let client = Thinking::new(script.clone())
        .with_mode(after("draws", move |draft| {
            draft.set_blocks([drawn.clone()]);
            Ok(())
        }))
        .with_mode(Reflection::new("Again."));

    let generation = client.generate(ask("?")).await.unwrap();
    assert_eq!(generation.response.text(), "better");
    assert_eq!(generation.blocks, [chart]);
    assert!(!shown(&script.requests()[1]).contains("image"));
}
