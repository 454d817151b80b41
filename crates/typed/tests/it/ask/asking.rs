//! The calls of [`Asking`], with various policies.

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{
    ChatRequest, ChatResponse, LlmError, LlmErrorKind, Message, ReplyFormat, ScriptedClient,
};
use cogwork_typed::ask::{
    Asking, Format, Limit, Meter, Policy, RefusedFormats, Unanswered, Verdict, said,
};
use proptest::prelude::*;

/// Wants a whole number, and asks once about zero.
#[derive(Default)]
struct Number {
    has_asked: bool,
    /// What it was told, in order.
    log: Vec<String>,
    /// The pieces of streamed replies.
    pieces: Vec<String>,
}

impl Policy for Number {
    type Reply = u32;
    type Problem = String;
    type Stop = Limit;

    fn request(&self, format: Format) -> ChatRequest {
        let request = ChatRequest::new([Message::user(format!("A number, by {format}."))]);
        match format {
            Format::Json => request.with_format(ReplyFormat::Json),
            _ => request,
        }
    }

    fn on_text(&mut self, text: &str) {
        self.pieces.push(text.to_owned());
    }

    fn on_refusal(&mut self, format: Format, next: Format, _: &LlmError) {
        self.log.push(format!("{format} refused, then {next}"));
    }

    async fn judge(&mut self, response: &ChatResponse, _: Format) -> Verdict<u32, String> {
        let problem = |what: &str| format!("{:?} is {what}", response.text());
        match response.text().trim().parse() {
            Ok(0) if !std::mem::replace(&mut self.has_asked, true) => Verdict::Continue {
                problem: Some(problem("zero")),
                messages: vec![said(response), Message::user("Really zero?")],
            },
            Ok(number) => Verdict::Usable(number),
            Err(_) => Verdict::Unusable {
                problem: problem("not a number"),
                message: Message::user("A number alone, please."),
            },
        }
    }

    fn on_ask_again(&mut self, problem: &String) {
        self.log.push(format!("again: {problem}"));
    }
}

fn refused() -> LlmError {
    LlmError::new(
        LlmErrorKind::InvalidRequest,
        "response_format is not supported",
    )
    .with_status(400)
}

fn texts(request: &ChatRequest) -> Vec<String> {
    request
        .messages()
        .iter()
        .map(|message| message.text().to_owned())
        .collect()
}

#[tokio::test]
async fn a_question_does_not_count_as_asking_again() {
    let client = ScriptedClient::new(["0", "0"]);
    let refused = RefusedFormats::default();
    let mut asking = Asking::new(&client, &refused, vec![Format::Text]).with_asks_again(0);

    let mut number = Number::default();

    assert_eq!(asking.run(&mut number).await.ok(), Some(0));
    assert_eq!(number.log, [r#"again: "0" is zero"#]);
    assert_eq!(
        texts(&client.requests()[1]),
        ["A number, by plain text.", "0", "Really zero?"]
    );
}

#[tokio::test]
async fn a_refused_form_is_left_out_from_then_on_and_the_conversation_is_kept() {
    let client = ScriptedClient::default()
        .then("two")
        .then(refused())
        .then("2")
        .then("3");

    let refused = RefusedFormats::default();
    let formats = || vec![Format::Json, Format::Text];
    let mut asking = Asking::new(&client, &refused, formats());
    let mut number = Number::default();

    assert_eq!(asking.run(&mut number).await.ok(), Some(2));

    let record = asking.into_log();
    assert_eq!(record.format, Format::Text);
    assert_eq!(record.refusals.len(), 1);
    assert_eq!(record.refusals[0].format, Format::Json);
    assert_eq!(
        texts(&client.requests()[2]),
        ["A number, by plain text.", "two", "A number alone, please."]
    );
    assert_eq!(number.log[1], "JSON mode refused, then plain text");

    let mut later = Asking::new(&client, &refused, formats());
    assert_eq!(later.run(&mut Number::default()).await.ok(), Some(3));
    assert_eq!(client.requests()[3].format(), None);
    assert!(later.log().refusals.is_empty());
}

#[tokio::test]
async fn nothing_is_remembered_when_every_form_is_refused() {
    let client = ScriptedClient::default()
        .then(refused())
        .then(refused())
        .then("3");
    let refused = RefusedFormats::default();
    let formats = || vec![Format::Json, Format::Text];
    let mut asking = Asking::new(&client, &refused, formats());

    assert!(matches!(
        asking.run(&mut Number::default()).await,
        Err(Unanswered::Client(_))
    ));

    let mut later = Asking::new(&client, &refused, formats());
    assert_eq!(later.run(&mut Number::default()).await.ok(), Some(3));
    assert_eq!(client.requests()[2].format(), Some(&ReplyFormat::Json));
}

#[tokio::test]
async fn an_unusable_reply_is_cut_on_record_and_in_the_conversation() {
    let long = "é".repeat(300_000);
    let client = ScriptedClient::new([long.as_str(), "1"]);
    let refused = RefusedFormats::default();
    let mut asking = Asking::new(&client, &refused, vec![Format::Text]);

    assert_eq!(asking.run(&mut Number::default()).await.ok(), Some(1));

    assert_eq!(
        asking.log().tries[0].reply,
        format!("{} […]", "é".repeat(256 * 1024))
    );
    assert_eq!(
        texts(&client.requests()[1])[1],
        format!("{} […]", "é".repeat(4_096))
    );
}

#[tokio::test]
async fn a_reply_that_is_too_large_is_an_error_whichever_way_it_comes() {
    let long = "x".repeat((16 << 20) + 1);
    let streams = Capabilities::none().with(Capability::Streaming);

    for (capabilities, streaming) in [
        (streams, true),
        (streams, false),
        (Capabilities::none(), true),
    ] {
        let client = ScriptedClient::new([long.as_str()]).with_capabilities(capabilities);
        let refused = RefusedFormats::default();
        let mut asking = Asking::new(&client, &refused, vec![]).with_streaming(streaming);

        let Err(Unanswered::Client(error)) = asking.run(&mut Number::default()).await else {
            panic!("the reply is too large")
        };

        assert_eq!(error.kind(), LlmErrorKind::Decode);
        assert_eq!(
            error.message(),
            "the reply has 16777217 bytes; expected at most 16777216"
        );
    }
}

proptest! {
    /// However the replies come, the number of calls is bounded and every reply is on record.
    #[test]
    fn every_asking_ends(
        replies in prop::collection::vec("[0-9x]{0,2}", 0..12),
        refusals in 0..3_usize,
        asks_again in 0..5_u32,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut client = ScriptedClient::default();
        for _ in 0..refusals {
            client = client.then(refused());
        }
        for reply in &replies {
            client = client.then(reply.as_str());
        }
        let refused = RefusedFormats::default();
        let meter = Meter::default();
        let mut asking = Asking::new(&client, &refused, vec![Format::Json, Format::Text])
            .with_meter(&meter)
            .with_asks_again(asks_again);
        let mut number = Number::default();

        let asked = runtime.block_on(asking.run(&mut number));

        let record = asking.into_log();
        prop_assert!(client.requests().len() <= asks_again as usize + 3);
        prop_assert!(record.tries.len() <= asks_again as usize + 2);
        prop_assert_eq!(asked.is_ok(), record.tries.last().is_some_and(|one| one.complaint.is_none()));
        prop_assert_eq!(meter.spent().calls as usize, client.requests().len());
    }
}
