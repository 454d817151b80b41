//! Thinking that is switched off, or keeps everything, cannot be told from none.

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, LlmClient, Message, Role, ScriptedClient,
    ScriptedReply, ToolCall, ToolDefinition, Usage,
};
use cogwork_thinking::memory::{Blackboard, InMemory};
use cogwork_thinking::{Thinking, ThinkingMode};
use cogwork_typed::ask::Limits;
use proptest::prelude::*;

use crate::thinking::{after, before, keep};

/// Nothing but the defaults of the trait.
struct Defaults;
impl ThinkingMode for Defaults {}

fn thinkings(client: ScriptedClient) -> Vec<Thinking> {
    let plain = Thinking::new(client);
    vec![
        plain.clone(),
        plain
            .clone()
            .with_mode(Defaults)
            .with_mode(before("keeps", keep))
            .with_mode(after("keeps", keep)),
        plain.clone().with_memory(InMemory::new()),
        plain.clone().with_memory(Blackboard::new()),
        plain.with_limits(Limits::default().with_calls(0)),
    ]
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let message = (0..4_usize, "\\PC{0,12}", any::<bool>()).prop_map(|(role, text, block)| {
        let call = ToolCall::new("1", "weather", "{}");
        let message = match [Role::System, Role::User, Role::Assistant, Role::Tool][role] {
            Role::Tool => return Message::tool_result(&call, text),
            Role::Assistant if block => return Message::assistant(text).with_tool_calls([call]),
            role => Message::new(role, text),
        };

        if block {
            message.with_blocks([Block::image_url("http://localhost/a.png")])
        } else {
            message
        }
    });
    prop::collection::vec(message, 0..6)
}

fn responses() -> impl Strategy<Value = ChatResponse> {
    ("\\PC{0,20}", any::<bool>(), any::<bool>(), 0..3_usize).prop_map(
        |(text, calls, known, reason)| {
            let reason = [
                FinishReason::Stop,
                FinishReason::Length,
                FinishReason::Other("odd".to_owned()),
            ][reason]
                .clone();

            let response = ChatResponse::new(text)
                .with_finish_reason(reason)
                .with_reasoning("Hm.")
                .with_request_id("r1");
            let response = if known {
                response.with_usage(Usage::new(7, 3)).with_model("m")
            } else {
                response
            };

            if calls {
                response.with_tool_calls([ToolCall::new("1", "weather", "{}")])
            } else {
                response
            }
        },
    )
}

proptest! {
    #[test]
    fn requests_and_replies_are_the_same(messages in messages(), response in responses(), streamed: bool) {
        let request = ChatRequest::new(messages)
            .with_temperature(0.5)
            .with_seed(1)
            .with_tools([ToolDefinition::new("weather", "The weather.", "{}")]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let plain = ScriptedClient::new([response.clone()]);
            let expected = call(&plain, &request, streamed).await;
            assert_eq!(expected, response);
            for index in 0..thinkings(plain.clone()).len() {
                let script = ScriptedClient::new([response.clone()]);
                let thinking = thinkings(script.clone()).remove(index);
                assert_eq!(call(&thinking, &request, streamed).await, expected);
                let bytes = |requests: Vec<ChatRequest>| serde_json::to_vec(&requests).unwrap();
                assert_eq!(bytes(script.requests()), bytes(plain.requests()));
            }
        });
    }
}

async fn call(client: &dyn LlmClient, request: &ChatRequest, streamed: bool) -> ChatResponse {
    match streamed {
        true => client
            .stream(request.clone())
            .await
            .unwrap()
            .collect()
            .await
            .unwrap(),
        false => client.complete(request.clone()).await.unwrap(),
    }
}

#[test]
fn capabilities_are_those_of_the_client() {
    let can = Capabilities::none()
        .with(Capability::Tools)
        .with(Capability::JsonSchema);
    let script = ScriptedClient::new([ScriptedReply::from("")]).with_capabilities(can);
    for thinking in thinkings(script) {
        assert_eq!(thinking.capabilities(), can);
    }
}
