use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::layers::{Backoff, Fallback, Retry};
use cogwork_llm::{LlmClient, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply};

use crate::around::{ask, fails, follow};

#[tokio::test(start_paused = true)]
async fn where_both_fail_the_error_tells_of_both() {
    let first = ScriptedClient::new([LlmErrorKind::Overloaded; 2].map(fails));
    let wrong = LlmError::new(LlmErrorKind::Authentication, "wrong key").with_status(401);
    let first = Retry::new(first, Backoff::of::<2>());
    let client = Fallback::new(first, ScriptedClient::new([wrong]));
    insta::assert_snapshot!(ask(&client).await.unwrap_err(), @"authentication: wrong key; the first client failed with: overloaded: no luck, after 2 attempts (status 401), after 3 attempts");
}

#[tokio::test]
async fn a_stream_falls_back_until_its_first_piece() {
    let broken = |pieces: &'static [&str]| {
        let reply = ScriptedReply::in_pieces(pieces.iter().copied());
        reply.but_then(fails(LlmErrorKind::InterruptedStream))
    };
    let first = ScriptedClient::new([broken(&[]), broken(&["Once"])]);
    let client = Fallback::new(first, ScriptedClient::new(["2", "2"]));
    assert_eq!(follow(&client).await.unwrap().text(), "2");
    let error = follow(&client).await.unwrap_err();
    assert_eq!(error.text_so_far(), Some("Once"));
}

#[test]
fn it_can_do_what_both_can() {
    let streaming = Capabilities::none().with(Capability::Streaming);
    let first = ScriptedClient::default().with_capabilities(streaming.with(Capability::Tools));
    let client = Fallback::new(first, ScriptedClient::default());
    assert_eq!(client.capabilities(), streaming);
}
