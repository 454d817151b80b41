use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, LlmClient, LlmError, LlmErrorKind, Message,
    ScriptedClient, ScriptedReply, ToolCall, ToolChoice, ToolDefinition, Usage,
};
use cogwork_thinking::Limits;
use cogwork_thinking::{
    HookOutcome, Hooks, Moment, OnFailure, Payload, Reflection, Thinking, ThinkingError,
    ThinkingMode, async_trait,
};

use crate::thinking::{after, appended, ask, before, kept, reply, shown};

#[tokio::test]
async fn hooks_are_called_in_order_each_on_what_the_last_one_left() {
    let script = ScriptedClient::new(["draft"]);
    let client = Thinking::new(script.clone())
        .with_mode(before("one", |input| {
            Ok(HookOutcome::replace_text(format!("{} 1", input.text())))
        }))
        .with_mode(after("two", |draft| {
            Ok(HookOutcome::replace_text(format!("{} 2", draft.text())))
        }))
        .with_mode(before("three", |input| {
            Ok(HookOutcome::replace_text(format!("{} 3", input.text())))
        }))
        .with_mode(after("four", |draft| {
            Ok(appended(draft, &format!("{} 4", draft.text())))
        }));

    let generation = client.generate(ask("input")).await.unwrap();
    assert_eq!(
        shown(&script.requests()[0]),
        "[system] Be brief.\n[user] input 1 3"
    );
    assert_eq!(generation.response.text(), "draft 2\n\ndraft 2 4");
    insta::assert_snapshot!(generation.report, @r"
    before one: appended (0 calls, 0 tokens)
    before three: appended (0 calls, 0 tokens)
    after two: appended (0 calls, 0 tokens)
    after four: appended (0 calls, 0 tokens)
    1 draft, 1 call, about 7 tokens
    ");
}

#[tokio::test]
async fn usage_is_the_sum_of_all_calls() {
    struct Asks;

    #[async_trait]
    impl ThinkingMode for Asks {
        async fn after(
            &self,
            moment: &Moment<'_>,
            draft: &Payload,
        ) -> Result<HookOutcome, ThinkingError> {
            let elsewhere = ScriptedClient::new([reply("elsewhere", 300, 3)]);
            moment.ask_of(&elsewhere, moment.request().clone()).await?;
            moment.client().complete(moment.request().clone()).await?;
            moment
                .client()
                .stream(moment.request().clone())
                .await?
                .collect()
                .await?;

            let text = moment.role().to_owned() + " " + draft.text();
            Ok(appended(draft, &text))
        }
    }

    let script = ScriptedClient::new([reply("a", 10, 1), reply("b", 20, 2)])
        .then(ChatResponse::new("not known"));
    let generation = Thinking::new(script)
        .with_mode(Asks)
        .generate(ask("?"))
        .await
        .unwrap();

    assert_eq!(generation.response.usage(), Some(Usage::new(330, 6)));
    assert_eq!(
        (
            generation.report.spent.calls,
            generation.report.hooks[1].spent.calls
        ),
        (4, 3)
    );
    assert_eq!(generation.report.hooks[1].spent.usage, Usage::new(320, 5));
    assert_eq!(generation.response.text(), "a\n\nBe brief. a");
}

#[tokio::test]
async fn another_draft_is_asked_for_behind_the_one_there_is_and_without_tools() {
    let script = ScriptedClient::new([reply("long draft", 10, 2), reply("short", 20, 1)]);
    let client = Thinking::new(script.clone()).with_mode(after("brief", |draft| {
        Ok(if draft.text().len() > 5 {
            HookOutcome::try_again("Shorter.")
        } else {
            HookOutcome::Keep
        })
    }));

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

    let drafts: Vec<_> = generation
        .report
        .drafts
        .iter()
        .map(|draft| &*draft.text)
        .collect();

    assert_eq!(drafts, ["long draft", "short"]);
}

#[tokio::test]
async fn tries_are_bounded_and_the_last_draft_is_kept() {
    let script = ScriptedClient::new(["1", "2", "3", "4"]);
    let client = Thinking::new(script.clone())
        .with_tries(2)
        .with_mode(after("never", |_| Ok(HookOutcome::try_again("Again."))));
    let generation = client.generate(ask("?")).await.unwrap();
    assert_eq!(generation.response.text(), "3");

    let failures: Vec<_> = generation.report.failures().collect();
    assert_eq!(
        failures,
        [("never", "it requested a further draft; expected at most 2")]
    );
    assert_eq!(script.requests().len(), 3);
}

#[tokio::test]
async fn a_draft_that_cannot_be_had_leaves_the_one_there_is() {
    let script = ScriptedClient::new(["1"])
        .then(LlmError::new(LlmErrorKind::Server, "on fire"))
        .then("3");
    let once = AtomicUsize::new(0);
    let client = Thinking::new(script)
        .with_mode(after("once", move |_| {
            Ok(if once.fetch_add(1, Ordering::Relaxed) == 0 {
                HookOutcome::try_again("Again.")
            } else {
                HookOutcome::Keep
            })
        }))
        .with_mode(after("next", |draft| Ok(appended(draft, "next"))));

    let generation = client.generate(ask("?")).await.unwrap();
    assert_eq!(generation.response.text(), "1\n\nnext");
    let failures: Vec<_> = generation.report.failures().collect();
    assert_eq!(failures, [("once", "no further draft: server: on fire")]);
}

#[tokio::test]
async fn before_a_generation_there_is_nothing_to_try_again() {
    let script = ScriptedClient::new(["draft"]);
    let client =
        Thinking::new(script).with_mode(before("early", |_| Ok(HookOutcome::try_again("Again."))));
    let generation = client.generate(ask("?")).await.unwrap();
    assert_eq!(generation.response.text(), "draft");

    let failures: Vec<_> = generation.report.failures().collect();
    assert_eq!(
        failures,
        [("early", "it requested a further draft before there was one")]
    );
}

#[tokio::test]
async fn a_mode_may_refuse_the_request_or_the_answer() {
    let script = ScriptedClient::new(["a secret"]);
    let (client, reports) = kept(
        Thinking::new(script.clone()).with_mode(before("guard", |_| {
            Ok(HookOutcome::Fail("it asks for secrets".into()))
        })),
    );

    let error = client.complete(ask("?")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "other: the thinking mode `guard` refused the request: it asks for secrets"
    );
    assert_eq!(script.requests().len(), 0);
    let report = reports.lock().unwrap().remove(0);

    assert_eq!(report.error, Some(error.to_string()));
    insta::assert_snapshot!(report, @"
    before guard: refused: it asks for secrets (0 calls, 0 tokens)
    no answer: other: the thinking mode `guard` refused the request: it asks for secrets; 0 drafts, 0 calls, 0 tokens
    ");

    let client = Thinking::new(script).with_mode(after("guard", |_| {
        Ok(HookOutcome::Fail("it tells secrets".into()))
    }));
    let error = client.complete(ask("?")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "other: the thinking mode `guard` refused the answer: it tells secrets"
    );
}

/// Fails, after it has let something stand.
struct Failing(OnFailure);

#[async_trait]
impl ThinkingMode for Failing {
    fn on_failure(&self) -> OnFailure {
        self.0
    }

    async fn after(
        &self,
        moment: &Moment<'_>,
        draft: &Payload,
    ) -> Result<HookOutcome, ThinkingError> {
        moment.accept(&draft.clone().with_text("better"));
        moment.ask(moment.request().clone()).await?;
        Ok(HookOutcome::replace_text("best"))
    }
}

#[tokio::test]
async fn what_holds_after_a_failure_is_the_policy_of_the_mode() {
    let busy =
        || LlmError::new(LlmErrorKind::Overloaded, "busy").with_retry_after(Duration::from_secs(3));

    let script = ScriptedClient::new(["draft"]).then(busy()).then("unused");
    let generation = Thinking::new(script)
        .with_mode(Failing(OnFailure::Keep))
        .generate(ask("?"))
        .await
        .unwrap();

    assert_eq!(generation.response.text(), "better");

    let script = ScriptedClient::new(["draft"]).then(busy()).then("unused");
    let error = Thinking::new(script)
        .with_mode(Failing(OnFailure::Fail))
        .generate(ask("?"))
        .await
        .unwrap_err();

    assert_eq!(
        error.to_string(),
        "overloaded: the thinking mode `Failing` failed after the generation: busy (retry after 3s)",
    );
    assert!(error.is_retryable());

    let script = ScriptedClient::new(["draft"]).then(busy()).then("fine");
    let generation = Thinking::new(script)
        .with_mode(Failing(OnFailure::TryAgain))
        .generate(ask("?"))
        .await
        .unwrap();

    assert_eq!(generation.response.text(), "best");
    let failures: Vec<_> = generation.report.failures().collect();
    assert_eq!(failures, [("Failing", "overloaded: busy (retry after 3s)")]);

    let script = ScriptedClient::new(["draft"])
        .then(busy())
        .then(busy())
        .then("too late");
    let generation = Thinking::new(script)
        .with_mode(Failing(OnFailure::TryAgain))
        .generate(ask("?"))
        .await
        .unwrap();

    assert_eq!(generation.response.text(), "better");
    assert_eq!(generation.report.failures().count(), 2);
}

#[tokio::test]
async fn metadata_goes_from_hook_to_hook_and_to_the_program_but_to_no_model() {
    let script = ScriptedClient::new(["draft"]);
    let client = Thinking::new(script.clone())
        .with_mode(before("marks", |input| {
            Ok(HookOutcome::Replace(
                input.clone().with_metadata("topic", "sky"),
            ))
        }))
        .with_mode(after("changes", |_| Ok(HookOutcome::replace_text("other"))))
        .with_mode(after("reads", |draft| {
            let text = format!("about the {}", draft.metadata()["topic"]);
            Ok(appended(draft, &text))
        }));

    let generation = client.generate(ask("?")).await.unwrap();
    assert_eq!(generation.response.text(), "other\n\nabout the \"sky\"");
    assert_eq!(generation.payload.metadata()["topic"], "sky");
    assert_eq!(script.requests(), [ask("?")]);
}

#[tokio::test]
async fn a_hook_may_ask_to_see_calls_of_tools_and_they_survive_its_text() {
    struct Sees;

    #[async_trait]
    impl ThinkingMode for Sees {
        fn hooks(&self) -> Hooks {
            Hooks::AFTER.and_tool_calls()
        }
        async fn after(
            &self,
            moment: &Moment<'_>,
            draft: &Payload,
        ) -> Result<HookOutcome, ThinkingError> {
            let asked = shown(&moment.answering(moment.conversation(draft, "Sure?")));
            assert_eq!(
                asked,
                "[system] Be brief.\n[user] ?\n[assistant] [call of the tool weather: {}]\n[user] Sure?"
            );
            Ok(HookOutcome::replace_text("I look."))
        }
    }

    let calls = [ToolCall::new("1", "weather", "{}")];
    let draft = ChatResponse::new("")
        .with_tool_calls(calls.clone())
        .with_finish_reason(FinishReason::ToolCalls);
    let response = Thinking::new(ScriptedClient::new([draft]))
        .with_mode(Sees)
        .complete(ask("?"))
        .await
        .unwrap();

    assert_eq!(
        (response.text(), response.tool_calls()),
        ("I look.", &calls[..])
    );
    assert_eq!(*response.finish_reason(), FinishReason::ToolCalls);
}

#[tokio::test]
async fn a_cut_off_draft_stays_one_when_added_to_and_is_whole_when_replaced() {
    let cut = || {
        ChatResponse::new("Once upo")
            .with_finish_reason(FinishReason::Length)
            .with_model("m")
    };

    let client = Thinking::new(ScriptedClient::new([cut()]))
        .with_mode(after("adds", |draft| Ok(appended(draft, "…"))));
    assert_eq!(
        *client.complete(ask("?")).await.unwrap().finish_reason(),
        FinishReason::Length
    );

    let client = Thinking::new(ScriptedClient::new([cut()]))
        .with_mode(after("ends", |_| Ok(HookOutcome::replace_text("The end."))));
    let response = client.complete(ask("?")).await.unwrap();
    assert_eq!(
        (response.finish_reason(), response.model()),
        (&FinishReason::Stop, Some("m"))
    );
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
    let client = Thinking::new(script.clone())
        .with_mode(before("changes", |asked| Ok(appended(asked, "more"))));
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
        async fn after(
            &self,
            moment: &Moment<'_>,
            _draft: &Payload,
        ) -> Result<HookOutcome, ThinkingError> {
            loop {
                moment.client().complete(moment.request().clone()).await?;
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

    let failures: Vec<_> = generation.report.failures().collect();
    assert_eq!(
        failures,
        [(
            "Greedy",
            "budget: the limit of 5 calls by hooks has been reached"
        )]
    );
}

#[tokio::test(start_paused = true)]
async fn the_time_of_hooks_is_bounded_for_all_of_them_together() {
    struct Slow;

    #[async_trait]
    impl ThinkingMode for Slow {
        async fn after(
            &self,
            moment: &Moment<'_>,
            draft: &Payload,
        ) -> Result<HookOutcome, ThinkingError> {
            let reply = moment.ask(moment.request().clone()).await?;
            Ok(appended(draft, reply.text()))
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
        generation.report.failures().collect::<Vec<_>>(),
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
                Ok(HookOutcome::Replace(
                    draft.clone().with_blocks([chart.clone()]),
                ))
            }
        }))
        .with_mode(Reflection::new("Again."));

    let generation = client.generate(ask("?")).await.unwrap();
    assert_eq!(
        (generation.payload.text(), generation.payload.blocks()),
        ("better", &[chart][..])
    );
    assert!(
        script.requests()[1]
            .messages()
            .iter()
            .all(|message| message.blocks().is_empty())
    );
}
