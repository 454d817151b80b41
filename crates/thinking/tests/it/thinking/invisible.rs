//! Thinking that is switched off, or keeps everything, cannot be told from none.

use cogwork_llm::{
    Block, ChatRequest, ChatResponse, FinishReason, LlmClient, Message, ScriptedClient, ToolCall,
    ToolDefinition, Usage,
};
use cogwork_thinking::memory::{Blackboard, InMemory};
use cogwork_thinking::{Thinking, ThinkingMode};
use cogwork_typed::ask::Limits;

use crate::thinking::{after, before};

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
            .with_mode(before("keeps", |_| Ok(())))
            .with_mode(after("keeps", |_| Ok(()))),
        plain.clone().with_memory(InMemory::new()),
        plain.clone().with_memory(Blackboard::new()),
        plain.with_limits(Limits::default().with_calls(0)),
    ]
}

fn conversations() -> [Vec<Message>; 4] {
    let call = ToolCall::new("1", "weather", "{}");
    let picture = Block::image_url("http://localhost/a.png");
    let asked = Message::user("Look \u{1f327}").with_blocks([picture]);
    [
        vec![],
        vec![Message::system("Be brief."), asked.clone()],
        vec![asked, Message::assistant("Hm.")],
        vec![
            Message::user(""),
            Message::assistant("").with_tool_calls([call.clone()]),
            Message::tool_result(&call, "rain"),
        ],
    ]
}

fn responses() -> [ChatResponse; 4] {
    let plain = ChatResponse::new("It rains.").with_reasoning("Hm.");
    [
        ChatResponse::new(""),
        plain.clone().with_usage(Usage::new(7, 3)).with_model("m"),
        plain.clone().with_finish_reason(FinishReason::Length),
        plain.with_tool_calls([ToolCall::new("1", "weather", "{}")]),
    ]
}

#[tokio::test]
async fn requests_and_replies_are_the_same() {
    let cases = conversations()
        .into_iter()
        .flat_map(|messages| responses().map(|response| (messages.clone(), response)));
    for (messages, response) in cases {
        let request = ChatRequest::new(messages)
            .with_temperature(0.5)
            .with_seed(1)
            .with_tools([ToolDefinition::new("weather", "The weather.", "{}")]);

        for streamed in [false, true] {
            let plain = ScriptedClient::new([response.clone()]);
            assert_eq!(call(&plain, &request, streamed).await, response);

            for index in 0..thinkings(plain.clone()).len() {
                let script = ScriptedClient::new([response.clone()]);
                let thinking = thinkings(script.clone()).remove(index);
                assert_eq!(call(&thinking, &request, streamed).await, response);
                let bytes = |requests: Vec<ChatRequest>| serde_json::to_vec(&requests).unwrap();
                assert_eq!(bytes(script.requests()), bytes(plain.requests()));
            }
        }
    }
}

async fn call(client: &dyn LlmClient, request: &ChatRequest, streamed: bool) -> ChatResponse {
    if streamed {
        let stream = client.stream(request.clone()).await.unwrap();
        return stream.collect().await.unwrap();
    }
    client.complete(request.clone()).await.unwrap()
}
