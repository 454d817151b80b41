//! The requests of a run: each extends the previous one and shares its text.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_cot::{ChainOfThought, History, Prompts, Reasoning};
use cogwork_llm::{ChatRequest, Role, ScriptedClient};
use cogwork_typed::ask::Limits;

fn reply(turn: usize) -> String {
    format!(
        "current_thinking: The thinking of turn {turn}.\n\
         planning: [{{description: The plan of turn {turn}, status: Pending}}]\n\
         next_thought_needed: true"
    )
}

/// The requests of a run of so many thoughts; the last one asks for one more.
async fn requests(
    node: impl Fn(ChainOfThought) -> ChainOfThought,
    turns: usize,
) -> Vec<ChatRequest> {
    let script = ScriptedClient::new((1..=turns).map(reply));
    let limits = Limits::default().with_thoughts(u32::MAX);
    let flow = node(ChainOfThought::new(script.clone()).with_limits(limits)).into_flow();
    let mut reasoning = Reasoning::new("What is 24 * 7?");

    flow.run(&mut reasoning).await.expect_err("the script ends");
    assert_eq!(reasoning.thoughts().len(), turns);
    script.requests()
}

fn texts(request: &ChatRequest) -> Vec<(Role, &str)> {
    let messages = request.messages().iter();
    messages
        .map(|message| (message.role(), message.text()))
        .collect()
}

/// The messages that hold a text.
fn holding(request: &ChatRequest, text: &str) -> usize {
    let messages = request.messages().iter();
    messages
        .filter(|message| message.text().contains(text))
        .count()
}

#[tokio::test]
async fn each_request_begins_with_the_one_before_but_for_its_last_message() {
    for prompts in [Prompts::english(), Prompts::chinese()] {
        let requests = requests(|node| node.with_prompts(prompts.clone()), 20).await;
        assert_eq!(requests.len(), 21);

        // The first turn has problem and instructions in one message, and no turn before it: what it
        // shares with the next is all but that message.
        for pair in requests.windows(2) {
            let earlier = texts(&pair[0]);
            let later = texts(&pair[1]);
            let (_, shared) = earlier.split_last().unwrap();
            assert!(later.len() > earlier.len());
            assert_eq!(later[..shared.len()], *shared);
        }
    }
}

#[tokio::test]
async fn only_the_last_plan_travels() {
    for history in [History::All, History::Window(2), History::Bytes(1000)] {
        let requests = requests(|node| node.with_history(history), 8).await;
        for (turn, request) in requests.iter().enumerate().skip(1) {
            let plan = |turn| format!("The plan of turn {turn}\n");
            for earlier in 1..turn {
                assert_eq!(holding(request, &plan(earlier)), 0);
            }
            assert_eq!(holding(request, &plan(turn)), 1);
            let last = request.messages().last().unwrap();
            assert!(last.text().contains(&plan(turn)));
        }
    }
}

#[tokio::test]
async fn a_window_keeps_the_newest_thoughts_and_at_least_the_last() {
    let thinking = |turn| format!("The thinking of turn {turn}.");
    let length = thinking(5).len();
    for (history, first) in [
        (History::All, 1),
        (History::Window(9), 1),
        (History::Window(2), 4),
        (History::Window(1), 5),
        (History::Window(0), 5),
        (History::Bytes(usize::MAX), 1),
        (History::Bytes(3 * length), 3),
        (History::Bytes(3 * length - 1), 4),
        (History::Bytes(0), 5),
    ] {
        let requests = requests(|node| node.with_history(history), 5).await;
        let last = requests.last().unwrap();
        for turn in 1..=5 {
            let shown = holding(last, &thinking(turn));
            assert_eq!(shown, usize::from(turn >= first), "{history:?}");
        }

        let left_out = first - 1;
        let note = format!("(The thoughts up to number {left_out} are not shown here.)");
        let noted = holding(last, &note);
        assert_eq!(noted, usize::from(left_out > 0), "{history:?}");
        assert_eq!(holding(last, "What is 24 * 7?"), 1);
    }
}
