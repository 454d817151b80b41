//! The node against a mocked client, in the way a program would test its own use of it.

use cogwork_cot::ChainOfThought;
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Role, async_trait};
use mockall::{Sequence, mock};

use crate::node::support::{FIRST, LAST, PROBLEM, solve};

mock! {
    Client {}

    #[async_trait]
    impl LlmClient for Client {
        async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError>;
    }
}

#[tokio::test]
async fn a_mock_expects_the_calls_of_a_run_in_order() {
    let mut client = MockClient::new();
    let mut order = Sequence::new();
    let first = client.expect_complete().withf(|request| {
        let messages: Vec<_> = request.messages().iter().collect();
        let last = messages.last().unwrap();
        messages[0].role() == Role::System && last.text().contains(PROBLEM)
    });
    first
        .times(1)
        .in_sequence(&mut order)
        .returning(|_| Ok(ChatResponse::new(FIRST)));

    let second = client.expect_complete().withf(|request| {
        let messages: Vec<_> = request.messages().iter().rev().collect();
        let plan = "- description: Multiply\n  status: Pending";
        let is_told = messages[1].text() == "Thought 1:\nI multiply, then add.";
        is_told && messages[0].text().contains(plan)
    });
    second
        .times(1)
        .in_sequence(&mut order)
        .returning(|_| Ok(ChatResponse::new(LAST)));

    let reasoning = solve(ChainOfThought::new(client)).await;
    assert_eq!(reasoning.thoughts().len(), 2);
}
