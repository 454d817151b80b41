//! Texts from models, servers and files are always shown safely.

#[path = "../../../../text/tests/support/hostile.rs"]
pub(crate) mod hostile;

use cogwork_cot::{ChainOfThought, ConsoleReporter, Prompts, Reasoning};
use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient};

use crate::node::reporting::Screen;
use crate::node::support::{LAST, PROSE, cot_error, run};
use hostile::{assert_error_is_safe, assert_safe, assert_safe_line, texts};

#[tokio::test(start_paused = true)]
async fn nothing_unsafe_is_shown() {
    for text in texts() {
        show_prompts(&text);
        show_turns(&text).await;
        on_the_console(&text).await;
    }
}

/// The text as a YAML scalar, every character escaped.
fn scalar(text: &str) -> String {
    let escaped = text
        .chars()
        .map(|character| format!("\\U{:08X}", u32::from(character)));

    format!("\"{}\"", escaped.collect::<String>())
}

/// Replies with a text in each place, escaped and as it is.
fn replies(text: &str) -> Vec<String> {
    let scalar = scalar(text);

    let blocks = [
        format!("current_thinking: {scalar}\nplanning:\n- {{description: {scalar}, status: Done}}"),
        format!("current_thinking: a\nplanning:\n- {{description: a, status: {scalar}}}"),
        format!("current_thinking: a\nplanning: []\n{scalar}: 1"),
        format!("current_thinking: {text}\nplanning:\n- {{description: {text}, status: Done}}"),
        format!(
            "current_thinking: a: {text}\nplanning:\n- description: {text}\n  status: DONE {text}"
        ),
        format!("{text}: a"),
    ];

    let fenced = blocks.map(|block| format!("```yaml\n{block}\nnext_thought_needed: false\n```"));
    fenced.into_iter().chain([text.to_owned()]).collect()
}

fn show_prompts(text: &str) {
    let unread = Prompts::from_yaml(&format!("{}: 1", scalar(text))).unwrap_err();
    let refused = Prompts::from_yaml(&format!("!a {text}")).unwrap_err();
    let too_long = Prompts::from_yaml(&"a".repeat(2 << 20)).unwrap_err();

    for error in [unread, refused, too_long] {
        assert_error_is_safe(&error);
    }
}

/// Turns that fail.
async fn show_turns(text: &str) {
    let failure = LlmError::new(LlmErrorKind::Other, text)
        .with_body(text)
        .with_request_id(text);
    let clients = replies(text)
        .into_iter()
        .map(|reply| ScriptedClient::new([reply]));
    for client in clients.chain([ScriptedClient::new([failure])]) {
        let node = ChainOfThought::new(client).with_asks_again(0);
        if let (_, Err(error)) = run(node).await {
            assert_error_is_safe(cot_error(&error));
            assert_safe_line(&error.to_string());
        }
    }
}

/// A whole run with everything that a model and a server may say.
async fn on_the_console(text: &str) {
    let screen = Screen::default();
    let mut script = replies(text);
    script.extend([PROSE, LAST, LAST].map(str::to_owned));
    let node = ChainOfThought::new(ScriptedClient::new(script)).with_asks_again(20);
    let node = node.with_reporter(ConsoleReporter::to(screen.clone()));

    let mut reasoning = Reasoning::new(format!("problem {text}"));
    let _ = node.into_flow().run(&mut reasoning).await;
    assert_safe(&screen.text());
}
