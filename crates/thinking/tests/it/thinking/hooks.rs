use std::time::Duration;

use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError, LlmErrorKind, Message,
    ScriptedClient, ScriptedReply, ToolCall, ToolChoice, ToolDefinition,
};
use cogwork_thinking::{Draft, Reflection, Thinking, ThinkingError, ThinkingMode, async_trait};
use cogwork_tools::{ToolError, Tools, function};
use cogwork_typed::Model;
use cogwork_typed::ask::Limits;
use serde_json::Value;

use crate::thinking::{after, ask, before, failures, reply, shown};

fn numbered(draft: &mut Draft, number: u32) -> Result<(), ThinkingError> {
    draft.set_text(format!("{} {number}", draft.text()));
    Ok(())
}

/// Appends a text.
struct Adds(&'static str);

#[async_trait]
impl ThinkingMode for Adds {
    async fn before(&self, input: &mut Draft) -> Result<(), ThinkingError> {
        input.append(self.0);
        Ok(())
    }

    async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
        draft.append(self.0);
        Ok(())
    }
}

#[tokio::test]
async fn hooks_are_called_in_order_each_on_what_the_last_one_left() {
    let script = ScriptedClient::new(["draft"]);
    let client = Thinking::new(script.clone())
        .with_mode(before("one", |input| numbered(input, 1)))
        .with_mode(after("two", |draft| numbered(draft, 2)))
        .with_mode(before("three", |input| numbered(input, 3)))
        .with_mode(after("four", |draft| {
            draft.append("4");
            Ok(())
        }));

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

/// Asks again for a text that is too long.
struct Brief;

#[async_trait]
impl ThinkingMode for Brief {
    async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
        while draft.text().len() > 5 {
            draft.try_again("Shorter.").await?;
        }
        Ok(())
    }
}

#[tokio::test]
async fn another_draft_is_asked_for_behind_the_one_there_is_and_without_tools() {
    let script = ScriptedClient::new([reply("long draft", 10, 2), reply("short", 20, 1)]);
    let client = Thinking::new(script.clone()).with_mode(Brief);

    let request = ask("?").with_tools([ToolDefinition::new("weather", "The weather.", "{}")]);
    let generation = client.generate(request).await.unwrap();
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
    struct Early;

    #[async_trait]
    impl ThinkingMode for Early {
        async fn before(&self, input: &mut Draft) -> Result<(), ThinkingError> {
            input.try_again("Again.").await
        }
    }

    let client = Thinking::new(ScriptedClient::new(["draft"])).with_mode(Early);
    let generation = client.generate(ask("?")).await.unwrap();
    assert_eq!(generation.response.text(), "draft");
    let told = "it requested a further draft before there was one";
    assert_eq!(failures(&generation), [("Early", told)]);
}

#[tokio::test]
async fn a_mode_may_refuse_the_request_or_the_answer() {
    let script = ScriptedClient::new(["a secret"]);
    let client = Thinking::new(script.clone()).with_mode(before("guard", |_| {
        Err(ThinkingError::refused("it asks for secrets"))
    }));

    let error = client.complete(ask("?")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the thinking mode `guard` refused the request: it asks for secrets"
    );
    assert_eq!(script.requests().len(), 0);
    let client = Thinking::new(script).with_mode(after("guard", |_| {
        Err(ThinkingError::refused("it tells secrets"))
    }));
    let error = client.complete(ask("?")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the thinking mode `guard` refused the answer: it tells secrets"
    );
}

#[tokio::test]
async fn what_was_changed_before_a_failure_holds_and_the_next_hook_goes_on() {
    struct Failing;

    #[async_trait]
    impl ThinkingMode for Failing {
        async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
            draft.set_text("better");
            draft.try_again("Shorter.").await?;
            draft.set_text("best");
            Ok(())
        }
    }

    let busy = LlmError::new(LlmErrorKind::Overloaded, "busy");
    let script = ScriptedClient::new(["draft"]).then(busy).then("unused");
    let thinking = Thinking::new(script).with_mode(Failing);
    let thinking = thinking.with_mode(after("next", |draft| numbered(draft, 1)));
    let generation = thinking.generate(ask("?")).await.unwrap();
    assert_eq!(generation.response.text(), "better 1");
    assert_eq!(failures(&generation), [("Failing", "overloaded: busy")]);
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
    let response = Thinking::new(ScriptedClient::new([draft.clone()]))
        .with_mode(Adds("more"))
        .generate(ask("?"))
        .await
        .unwrap();

    assert_eq!(response.response.text(), "I look.");
    assert_eq!(response.response.tool_calls(), draft.tool_calls());
    assert_eq!(response.report.hooks.len(), 1);
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
        let client =
            Thinking::new(ScriptedClient::new([cut])).with_mode(after("ends", move |draft| {
                draft.set_text(text);
                Ok(())
            }));
        let response = client.complete(ask("?")).await.unwrap();
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
    let client = Thinking::new(script.clone()).with_mode(Adds("more"));
    client
        .complete(ChatRequest::new(conversation.clone()))
        .await
        .unwrap();
    assert_eq!(script.requests(), [ChatRequest::new(conversation)]);
}

#[tokio::test]
async fn calls_of_hooks_are_bounded_and_the_draft_is_kept() {
    struct Greedy;

    #[async_trait]
    impl ThinkingMode for Greedy {
        async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
            loop {
                draft.client().complete(draft.request().clone()).await?;
            }
        }
    }

    let script = ScriptedClient::new((0..100).map(|number| number.to_string()));
    let client = Thinking::new(script.clone())
        .with_limits(Limits::default().with_calls(5))
        .with_mode(Greedy);
    let generation = client.generate(ask("?")).await.unwrap();
    assert_eq!(generation.response.text(), "0");
    assert_eq!(script.requests().len(), 6);

    let told = "budget: the limit of 5 calls by hooks has been reached";
    assert_eq!(failures(&generation), [("Greedy", told)]);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_hooks_is_bounded_for_all_of_them_together() {
    struct Slow;

    #[async_trait]
    impl ThinkingMode for Slow {
        async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
            let reply = draft.ask(draft.request().clone()).await?;
            draft.append(reply.text());
            Ok(())
        }
    }

    let slow = |text: &str| ScriptedReply::from(text).after(Duration::from_secs(40));

    // The draft takes its own time.
    let script = ScriptedClient::new([slow("draft"), slow("one"), slow("two")]);
    let limits = Limits::default().with_time(Duration::from_secs(60));
    let client = Thinking::new(script)
        .with_limits(limits)
        .with_mode(Slow)
        .with_mode(Slow);
    let begun = tokio::time::Instant::now();
    let generation = client.generate(ask("?")).await.unwrap();

    assert_eq!(begun.elapsed(), Duration::from_secs(100));
    assert_eq!(generation.response.text(), "draft\n\none");
    assert_eq!(
        failures(&generation),
        [("Slow", "thinking took longer than 60s")]
    );
}

#[tokio::test]
async fn blocks_that_a_hook_adds_are_for_the_program() {
    let chart = Block::image("image/png", "iVBORw0KGgo=");
    let script = ScriptedClient::new(["draft", "better"]);
    let client = Thinking::new(script.clone())
        .with_mode(after("draws", {
            let chart = chart.clone();
            move |draft| {
                draft.set_blocks([chart.clone()]);
                Ok(())
            }
        }))
        .with_mode(Reflection::new("Again."));

    let generation = client.generate(ask("?")).await.unwrap();
    assert_eq!(
        (generation.response.text(), generation.blocks),
        ("better", vec![chart])
    );
    assert!(
        script.requests()[1]
            .messages()
            .iter()
            .all(|message| message.blocks().is_empty())
    );
}
