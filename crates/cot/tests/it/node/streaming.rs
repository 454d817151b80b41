//! People see a thought grow, and what is read at the end is the same.

use std::sync::{Arc, Mutex};

use cogwork_cot::{ChainOfThought, ReasoningEvent, Reporter};
use cogwork_llm::{ScriptedClient, ScriptedReply};

use crate::node::support::{EARLY, FIRST, LAST, PROSE, in_pieces, solve};

/// The text of each thought as it grows. `|` is before a piece, and `⟲` before one that replaces the text.
#[derive(Clone, Default)]
struct Grown(Arc<Mutex<String>>);

impl Grown {
    fn add(&self, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }
}

impl Reporter for Grown {
    fn event(&self, event: &ReasoningEvent) {
        match event {
            ReasoningEvent::Thinking { text, is_start, .. } => {
                let sign = if *is_start { '⟲' } else { '|' };
                self.add(&format!("{sign}{text}"));
            }
            ReasoningEvent::AskingAgain { .. } => self.add(" asking again "),
            ReasoningEvent::Thought { text, .. } => {
                self.add(&format!(" = {}\n", text.escape_debug()));
            }
            _ => {}
        }
    }
}

async fn grown(replies: impl IntoIterator<Item = ScriptedReply>) -> String {
    let grown = Grown::default();
    let node = ChainOfThought::new(ScriptedClient::new(replies));
    solve(node.with_reporter(grown.clone())).await;
    grown.0.lock().unwrap().clone()
}

#[tokio::test]
async fn the_text_of_a_thought_grows_without_the_rest_of_the_reply() {
    let text = grown([in_pieces(FIRST, 7), in_pieces(LAST, 7)]).await;

    insta::assert_snapshot!(text, @r#"
    ⟲I| multipl|y, then| add. = I multiply, then add.
    ⟲Evalu|ation o|f thoug|ht 2: r|ight.|
    144 +| 6 = 150|, so th|e answe|r is 15|0.|
     = Evaluation of thought 2: right.\n144 + 6 = 150, so the answer is 150.\n
    "#);
}

#[tokio::test]
async fn the_text_starts_again_with_each_reply_and_ends_as_that_of_the_thought() {
    let broken = "```yaml\ncurrent_thinking: Half of\nplanning: 7\n```";
    // A quote inside a plain scalar ends the text too early, until the reply was repaired.
    let repaired = FIRST.replace("I multiply", "\"I\" multiply");
    let replies = [broken, PROSE, &repaired, EARLY, PROSE, PROSE, PROSE];

    let text = grown(replies.map(ScriptedReply::from)).await;
    insta::assert_snapshot!(text, @r#"
    ⟲Half of asking again  asking again ⟲"I" multiply, then add. = \"I\" multiply, then add.
    ⟲The answer is 150. asking again  asking again  asking again ⟲The answer is 150. = The answer is 150.
    "#);
}
