//! The number of bytes that an agent keeps of a custom client's replies.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_agents::{Agent, FlowState, Tools};
use cogwork_flow::{Flow, Node};
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, ToolCall, async_trait};
use cogwork_tools::function;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Asks for so many calls in each reply, each with 1 KB of arguments.
struct Calls(usize);

#[async_trait]
impl LlmClient for Calls {
    async fn complete(&self, _: ChatRequest) -> Result<ChatResponse, LlmError> {
        let arguments = format!(r#"{{"text": "{}"}}"#, "x".repeat(1_000));
        let call = |number| ToolCall::new(format!("call{number}"), "echo", arguments.clone());
        Ok(ChatResponse::new("").with_tool_calls((0..self.0).map(call)))
    }
}

async fn run(calls: usize) -> (String, usize) {
    let echo = function(
        "echo",
        "Repeats its input.",
        |input: serde_json::Value| async move { Ok(input.to_string()) },
    );

    let tools = Tools::new().with(echo).unwrap();
    let agent = Agent::new("a", Calls(calls))
        .with_tools(tools)
        .with_tool_rounds(20);
    let action = agent.actions().remove(0);
    let flow = Flow::builder("flow")
        .start("a")
        .node("a", agent)
        .end("a", action)
        .build()
        .unwrap();

    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let error = flow.run(&mut FlowState::new("Hello")).await.unwrap_err();

    (
        error.to_string(),
        ALLOCATED.peak_usage().saturating_sub(before),
    )
}

/// Everything in one test: the allocator counts for the whole process.
#[tokio::test]
async fn the_calls_of_a_reply_are_bounded_for_every_client() {
    // One reply is made before it can be refused.
    let (error, peak) = run(10_000).await;
    assert!(
        error.contains("the reply has 10000 tool calls; expected at most 1000"),
        "{error}"
    );
    assert!(peak < 40 << 20, "{peak} bytes for one reply of 10 MB");

    // The bytes of the calls are bounded, too.
    let (error, _) = run(1_000).await;
    assert!(error.contains("expected at most 262144"), "{error}");

    // Within the limits, twenty rounds of 64 calls of 1 KB and what they gave.
    let (error, peak) = run(64).await;
    assert!(
        error.contains("still calls tools after 20 rounds"),
        "{error}"
    );
    assert!(peak < 8 << 20, "{peak} bytes for 1.3 MB of calls");
}
