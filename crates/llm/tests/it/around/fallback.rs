use cogwork_llm::{
    Backoff, Capabilities, Capability, Fallback, LlmClient, LlmError, LlmErrorKind, Retry,
    ScriptedClient, ScriptedReply,
};

use crate::around::{ask, fails, follow};

#[tokio::test]
async fn the_second_is_asked_where_the_first_fails_as_a_server() {
    use LlmErrorKind::*;

    let falling = [
        RateLimit,
        Quota,
        Overloaded,
        Server,
        Timeout,
        Transport,
        InterruptedStream,
    ];
    let others = [
        Settings,
        Authentication,
        InvalidRequest,
        ContextLength,
        ContentFilter,
        Decode,
        Budget,
        Cancelled,
        Other,
    ];

    for kind in falling.into_iter().chain(others) {
        let first = ScriptedClient::new([fails(kind), fails(kind)]);
        let client = Fallback::new(first, ScriptedClient::new(["2", "2"]));
        for outcome in [ask(&client).await, follow(&client).await] {
            match outcome {
                Ok(response) => assert!(falling.contains(&kind) && response.text() == "2"),
                Err(error) => assert!(others.contains(&kind) && error.kind() == kind),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn where_both_fail_the_error_tells_of_both() {
    let first =
        ScriptedClient::new([LlmErrorKind::Overloaded, LlmErrorKind::Overloaded].map(fails));
    let second = ScriptedClient::new([
        LlmError::new(LlmErrorKind::Authentication, "wrong key").with_status(401)
    ]);
    let client = Fallback::new(Retry::new(first, Backoff::of::<2>()), second);
    assert_eq!(
        ask(&client).await.unwrap_err().to_string(),
        "authentication: wrong key; the first client failed with: overloaded: no luck, after 2 attempts (status 401), after 3 attempts"
    );
}

#[tokio::test]
async fn a_stream_falls_back_until_its_first_piece() {
    let broken = |pieces: &[&str]| {
        ScriptedReply::in_pieces(pieces.iter().copied())
            .but_then(fails(LlmErrorKind::InterruptedStream))
    };
    let first = ScriptedClient::new([broken(&[]), broken(&["Once"])]);
    let client = Fallback::new(first, ScriptedClient::new(["2", "2"]));
    assert_eq!(follow(&client).await.unwrap().text(), "2");
    assert_eq!(
        follow(&client).await.unwrap_err().text_so_far(),
        Some("Once")
    );
}

#[test]
fn it_can_do_what_both_can() {
    let streaming = Capabilities::none().with(Capability::Streaming);
    let first = ScriptedClient::default().with_capabilities(streaming.with(Capability::Tools));
    let client = Fallback::new(first, ScriptedClient::default());
    assert_eq!(client.capabilities(), streaming);
}
