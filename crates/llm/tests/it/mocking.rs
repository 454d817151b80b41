//! Mocking the trait in the way a program would, with `mockall`.

use std::sync::Arc;

use cogwork_llm::layers::{Backoff, Retry};
use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, Message, async_trait,
};
use mockall::{Sequence, mock};

mock! {
    Client {}

    #[async_trait]
    impl LlmClient for Client {
        async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError>;
    }
}

/// What a program might do with a client.
async fn translate(client: &dyn LlmClient, word: &str) -> Result<String, LlmError> {
    let request = ChatRequest::new([Message::system("Answer in French."), Message::user(word)]);
    Ok(client.complete(request).await?.into_text())
}

#[tokio::test(start_paused = true)]
async fn a_mock_sees_the_request_and_answers_behind_a_decorator_and_an_arc() {
    let mut client = MockClient::new();
    let mut order = Sequence::new();
    let down = LlmError::new(LlmErrorKind::Server, "down");
    client
        .expect_complete()
        .times(1)
        .in_sequence(&mut order)
        .return_once(|_| Err(down));
    client
        .expect_complete()
        .withf(|request| request.messages().last().unwrap().text() == "cat")
        .times(1)
        .in_sequence(&mut order)
        .returning(|_| Ok(ChatResponse::new("chat")));

    let client: Arc<dyn LlmClient> = Arc::new(client);
    let client = Retry::new(client, Backoff::default());
    assert_eq!(translate(&client, "cat").await.unwrap(), "chat");
}
