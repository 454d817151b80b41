//! What only Responses have.

use cogwork_llm::{Block, ChatRequest, FinishReason, LlmErrorKind, Message, ReplyFormat};
use serde_json::json;

use super::imitated::openai::OpenAi;
use super::imitated::{End, Reply, Server, responses};
use super::{MODEL, advance, ask, question};

#[tokio::test]
async fn nothing_is_kept_on_the_server_and_thinking_precedes_its_call() {
    let call = Reply::default()
        .thinks("OPAQUE")
        .calls("weather", json!({"city": "Bergen"}));
    let server = Server::start(OpenAi::gpt(), [call]).await;
    let client = responses(server.url(), MODEL);
    let mut request = question().with_max_tokens(900);
    advance(&*client, &mut request, true).await;
    advance(&*client, &mut request, false).await;

    let body = server.requests().pop().unwrap().json();
    assert_eq!(body["store"], false);
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(body["instructions"], "You plan.");
    assert_eq!(body["max_output_tokens"], 900);
    let kinds: Vec<_> = body["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["type"].clone())
        .collect();
    assert_eq!(
        kinds,
        [
            json!(null),
            json!("reasoning"),
            json!("function_call"),
            json!("function_call_output")
        ]
    );
}

#[tokio::test]
async fn formats_and_images_have_the_names_of_this_api() {
    let server = Server::start(OpenAi::gpt(), []).await;
    let client = responses(server.url(), MODEL);
    let image = Block::image("image/png", "iVBORw0KGgo=");
    let message = Message::user("What is it?").with_blocks([image]);
    let format = ReplyFormat::Schema {
        name: "answer".into(),
        schema: json!({"type": "object"}).to_string().into(),
    };
    let request = ChatRequest::new([message]).with_format(format);
    ask(&*client, &request, false).await.unwrap();

    let body = server.requests().pop().unwrap().json();
    let expected = json!({"type": "json_schema", "name": "answer", "schema": {"type": "object"}, "strict": true});
    assert_eq!(body["text"]["format"], expected);
    let content = json!([
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "input_text", "text": "What is it?"},
    ]);
    assert_eq!(body["input"][0]["content"], content);
}

#[tokio::test]
async fn an_incomplete_response_is_cut_off_and_a_refusal_is_an_error() {
    for is_streamed in [false, true] {
        let cut = Reply::says("I").thinks("OPAQUE").ends(End::Cut);
        let refused = Reply::says("I can't help with that.").ends(End::Refused);
        let server = Server::start(OpenAi::gpt(), [cut, refused]).await;
        let client = responses(server.url(), MODEL);

        let reply = ask(&*client, &question(), is_streamed).await.unwrap();
        assert_eq!(reply.finish_reason(), &FinishReason::Length);
        assert_eq!(reply.text(), "I");
        let error = ask(&*client, &question(), is_streamed).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::ContentFilter);
        assert!(
            error.message().contains("I can't help with that."),
            "{error}"
        );
    }
}
