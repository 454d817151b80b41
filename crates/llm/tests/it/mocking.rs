//! Mocking the trait in the way a program would, with `mockall`.

use std::sync::Arc;

use cogwork_llm::{
    Backoff, ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, Message, Retry, Role,
    async_trait,
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

#[tokio::test]
async fn a_mock_sees_the_request_and_answers() {
    let mut client = MockClient::new();
    client
        .expect_complete()
        .withf(|request| {
            let last = request.messages().last().unwrap();
            last.role() == Role::User && last.text() == "cat"
        })
        .times(1)
        .returning(|_| Ok(ChatResponse::new("chat")));

    assert_eq!(translate(&client, "cat").await.unwrap(), "chat");
}

#[tokio::test]
async fn a_mock_may_keep_what_it_was_sent() {
    let mut client = MockClient::new();
    let (sender, seen) = std::sync::mpsc::channel::<ChatRequest>();
    client.expect_complete().returning(move |request| {
        sender.send(request).unwrap();
        Ok(ChatResponse::new("chien"))
    });
    translate(&client, "dog").await.unwrap();
    assert_eq!(seen.recv().unwrap().messages().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_mock_goes_behind_a_decorator_and_an_arc() {
    let mut client = MockClient::new();
    let mut order = Sequence::new();
    client
        .expect_complete()
        .times(1)
        .in_sequence(&mut order)
        .returning(|_| Err(LlmError::new(LlmErrorKind::Server, "down")));

    client
        .expect_complete()
        .times(1)
        .in_sequence(&mut order)
        .returning(|_| Ok(ChatResponse::new("oiseau")));

    let client: Arc<dyn LlmClient> = Arc::new(client);
    let client = Retry::new(client, Backoff::default());
    assert_eq!(translate(&client, "bird").await.unwrap(), "oiseau");
}
