//! Texts from models and servers are always shown safely.

#![expect(clippy::panic, reason = "the helpers of tests may, as the tests do")]

use crate::shown::hostile::{assert_line_is_safe, assert_safe, assert_safe_line, texts};
use cogwork_llm::{
    ChatRequest, ChatResponse, LlmError, LlmErrorKind, Message, ReplyFormat, ScriptedClient, Usage,
};
use cogwork_typed::ask::{
    Asking, Ladder, Limit, NoAnswer, Policy, Repair, RepairKind, Rung, Spent, Unanswered, Verdict,
};

#[tokio::test]
async fn nothing_unsafe_is_shown() {
    Rung::ALL.iter().for_each(|rung| assert_line_is_safe(rung));
    spent().iter().for_each(|spent| assert_line_is_safe(spent));

    for no_answer in [NoAnswer::Empty, NoAnswer::Missing, NoAnswer::Refusal] {
        assert_line_is_safe(&no_answer);
    }

    for text in texts() {
        assert_line_is_safe(&Repair::new(RepairKind::Json, 1, text.as_str()));
        show_refusals(&text).await;
        show_unusable(&text).await;
    }
}

fn spent() -> [Spent; 2] {
    let mut spent = Spent::default();
    let request = ChatRequest::new([Message::user("a")]);
    let reported = ChatResponse::new("b").with_usage(Usage::new(1, 2));

    spent.count_call();
    spent.count_tool_call();
    spent.count_tokens(&request, &reported);
    spent.count_tokens(&request, &ChatResponse::new("b"));

    [Spent::default(), spent]
}

/// Can use no reply, and complains with a text.
struct Never<'a>(&'a str);

impl Policy for Never<'_> {
    type Reply = ();
    type Problem = String;
    type Stop = Limit;

    fn request(&self, rung: Rung) -> ChatRequest {
        let request = ChatRequest::new([Message::user(self.0)]);

        if rung.is_json() {
            request.with_format(ReplyFormat::Json)
        } else {
            request
        }
    }

    async fn judge(&mut self, _: &ChatResponse, _: Rung) -> Verdict<(), String> {
        let verdict = Verdict::Unusable {
            problem: self.0.to_owned(),
            message: Message::user(self.0),
        };

        assert_safe(&format!("{verdict:?} {verdict:#?}"));
        verdict
    }
}

/// A server refuses JSON, and then fails.
async fn show_refusals(text: &str) {
    let refused = LlmError::new(LlmErrorKind::InvalidRequest, text)
        .with_status(400)
        .with_body(text);
    let failed = LlmError::new(LlmErrorKind::Server, text).with_request_id(text);

    let client = ScriptedClient::new([refused, failed]);
    let ladder = Ladder::default();
    let mut asking = Asking::new(&client, &ladder, vec![Rung::Json, Rung::Text]);
    let Err(unanswered) = asking.run(&mut Never(text)).await else {
        panic!("no call succeeds");
    };

    assert!(matches!(unanswered, Unanswered::Client(_)));
    assert_safe(&format!("{unanswered:?} {asking:?} {ladder:?}"));

    let refusals = &asking.record().refusals;
    assert_eq!(refusals.len(), 1);
    refusals
        .iter()
        .for_each(|refusal| assert_safe_line(&refusal.error));
}

/// A model says the text, twice.
async fn show_unusable(text: &str) {
    let client = ScriptedClient::new([text; 2]);
    let ladder = Ladder::default();
    let mut asking = Asking::new(&client, &ladder, vec![Rung::Text]).with_asks_again(1);
    let Err(unanswered) = asking.run(&mut Never(text)).await else {
        panic!("no reply can be used");
    };

    assert_eq!(asking.record().tries.len(), 2);
    assert_safe(&format!("{unanswered:?} {unanswered:#?}"));
    assert_safe(&format!("{asking:?} {asking:#?}"));
}
