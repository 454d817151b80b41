//! The node against a mocked client, in the way a program would test its own use of it.

use cogwork_cot::{ChainOfThought, Reasoning};
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Role, async_trait};
use mockall::{Sequence, mock};

use crate::node::support::{FIRST, LAST, PROBLEM};

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
    client
        .expect_complete()
        .withf(|request| {
            let messages: Vec<_> = request.messages().iter().collect();
            let last = messages.last().unwrap();
            messages[0].role() == Role::System
                && last.role() == Role::User
                && last.text().contains(PROBLEM)
        })
        .times(1)
        .in_sequence(&mut order)
        .returning(|_| Ok(ChatResponse::new(FIRST)));

    client
        .expect_complete()
        .withf(|request| {
            let messages: Vec<_> = request.messages().iter().rev().collect();
            messages[0]
                .text()
                .contains("- description: Multiply\n  status: Pending")
                && (messages[1].role(), messages[1].text())
                    == (Role::Assistant, "Thought 1:\nI multiply, then add.")
        })
        .times(1)
        .in_sequence(&mut order)
        .returning(|_| Ok(ChatResponse::new(LAST)));

    let mut reasoning = Reasoning::new(PROBLEM);
    ChainOfThought::new(client)
        .into_flow()
        .run(&mut reasoning)
        .await
        .unwrap();

    assert_eq!(reasoning.thoughts().len(), 2);
}
