//! Replies that cannot be used, and the question for a better one.

use std::time::Duration;

use cogwork_cot::{ChainOfThought, Prompts};
use cogwork_flow::Backoff;
use cogwork_llm::layers::Retry;
use cogwork_llm::{
    ChatResponse, FinishReason, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply, Usage,
};
use cogwork_typed::{AnswerProblem, AnswerProblemKind};
use insta::assert_snapshot;

use crate::node::support::{EARLY, FIRST, LAST, PROSE, cot_error, run, solve, source};

/// YAML with a status that names none.
const UNKNOWN_STATUS: &str = "\
```yaml
current_thinking: I multiply, then add.
planning:
  - description: Multiply
    status: Someday
next_thought_needed: true
```";

#[tokio::test]
async fn each_complaint_follows_its_reply_and_the_replies_are_kept() {
    let client = ScriptedClient::new([UNKNOWN_STATUS, PROSE, LAST]);
    let reasoning = solve(ChainOfThought::new(client.clone())).await;

    let requests = client.requests();
    let begun = requests[0].messages().len();
    let added = requests[2].messages().iter().skip(begun);
    let added: Vec<&str> = added.map(|message| message.text()).collect();
    assert_eq!((added[0], added[2]), (UNKNOWN_STATUS, PROSE));
    assert!(added[1].contains("found the text \"Someday\""));
    assert!(added[3].contains("the reply has no YAML block"));

    let tries = reasoning.thoughts()[0].trace.tries.iter();
    let replies: Vec<_> = tries.map(|made| made.reply.as_str()).collect();
    assert_eq!(replies, [UNKNOWN_STATUS, PROSE, LAST]);
}

#[tokio::test]
async fn two_more_asks_are_the_default_and_then_the_run_ends_with_every_reply_kept() {
    let client = ScriptedClient::new([PROSE, "", UNKNOWN_STATUS, LAST]);
    let (reasoning, ended) = run(ChainOfThought::new(client.clone())).await;
    let error = ended.unwrap_err();
    assert_snapshot!(format!("{error:#}"), @r#"
    flow `chain of thought`, node `think`: exec failed: thought 1: no usable reply in 3 tries: line 5: `/planning/0/status`: found the text "Someday"; expected one of Pending, Done, Verification Needed
       3 | planning:
       4 |   - description: Multiply
       5 |     status: Someday
    the reply:
    ```yaml
    current_thinking: I multiply, then add.
    planning:
      - description: Multiply
        status: Someday
    next_thought_needed: true
    ```
    "#);

    let error = cot_error(&error);
    let kind = source::<AnswerProblem>(error).kind();
    assert_eq!(kind, AnswerProblemKind::Mismatch);
    let tries = &error.trace().tries;
    let replies: Vec<_> = tries.iter().map(|made| made.reply.as_str()).collect();
    assert_eq!(replies, [PROSE, "", UNKNOWN_STATUS]);
    assert!(tries.iter().all(|made| made.complaint.is_some()));
    assert_eq!(client.requests().len(), 3);
    assert_eq!(reasoning.thoughts().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn asks_are_counted_apart_from_the_retries_of_the_transport() {
    let broken = || LlmError::new(LlmErrorKind::Transport, "the connection broke");
    let once = ScriptedClient::new([broken()]).then(PROSE);
    let twice = once.then(broken()).then(broken()).then("");
    let script = twice.then(broken()).then(LAST);
    let client = Retry::new(script.clone(), Backoff::of::<3>());
    let reasoning = solve(ChainOfThought::new(client)).await;
    assert_eq!(script.requests().len(), 7);
    assert_eq!(reasoning.thoughts()[0].trace.tries.len(), 3);
}

/// A reply that breaks off behind a fence of its own text.
const IN_A_TEXT: &str = "\
```yaml
planning:
  - {description: Conclusion, status: Done, result: 150}
next_thought_needed: false
current_thinking: |
  I";

#[tokio::test]
async fn a_model_that_was_stopped_gave_a_whole_reply_only_if_it_is_closed() {
    let too_long = Some("the reply was cut off at the limit of tokens; expected a shorter one");
    let stopped = Some(
        "the model was stopped (ContentFilter) before its reply was whole; expected a whole YAML block",
    );
    let unknown = Some(
        "line 5: `/planning/0/status`: found the text \"Someday\"; expected one of Pending, Done, Verification Needed",
    );
    let parses = LAST.trim_end_matches("\n```");
    let goes_on = format!("{LAST}\nI hope that this helps. If you");

    use FinishReason::{ContentFilter, Length, Stop};
    for (text, reason, complaint) in [
        // In the middle of a word; where it still parses; where nothing but the label is there.
        (&LAST[..60], Length, too_long),
        (parses, Length, too_long),
        ("Let me think.\n```", Length, too_long),
        ("", Length, too_long),
        (IN_A_TEXT, ContentFilter, stopped),
        (parses, Stop, None),
        (goes_on.as_str(), Length, None),
        (goes_on.as_str(), ContentFilter, None),
        // A block that is closed and has a fault is complained about for that.
        (UNKNOWN_STATUS, Length, unknown),
    ] {
        let response = ChatResponse::new(text).with_finish_reason(reason);
        let client = ScriptedClient::default().then(response).then(LAST);
        let reasoning = solve(ChainOfThought::new(client.clone())).await;
        let tries = &reasoning.thoughts()[0].trace.tries;
        assert_eq!(tries[0].complaint.as_deref(), complaint, "of {text:?}");

        if complaint == too_long {
            let requests = client.requests();
            let asked = requests[1].messages().last().unwrap().text();
            let shorter = Prompts::english().cut_off;
            assert_eq!(asked, shorter.replace("{form_name}", "YAML block"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_and_time_of_every_try_are_counted() {
    let reply = |text: &str, seconds| {
        let usage = Usage {
            cached_tokens: 80,
            ..Usage::new(100, 10)
        };
        let response = ChatResponse::new(text).with_usage(usage);
        ScriptedReply::from(response).after(Duration::from_secs(seconds))
    };

    let replies = [(PROSE, 1), (EARLY, 2), (FIRST, 4), (LAST, 8)];
    let client = ScriptedClient::new(replies.map(|(text, seconds)| reply(text, seconds)));
    let reasoning = solve(ChainOfThought::new(client)).await;

    let first = reasoning.thoughts()[0].trace.spent;
    assert_eq!(
        first.usage,
        Usage {
            cached_tokens: 240,
            ..Usage::new(300, 30)
        }
    );
    assert_eq!(first.time, Duration::from_secs(7));
    let all = reasoning.spent();
    assert_eq!(
        all.usage,
        Usage {
            cached_tokens: 320,
            ..Usage::new(400, 40)
        }
    );
    assert_eq!((all.tokens(), all.estimated_tokens), (440, 0));
    assert_eq!(all.time, Duration::from_secs(15));
}
