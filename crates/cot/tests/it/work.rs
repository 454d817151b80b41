//! The work that reading a reply takes, counted: it grows with the length of the reply, whatever it says.

use std::future::poll_fn;
use std::pin::pin;

use cogwork_cot::{ChainOfThought, CotError, Limits, Reasoning, ReplyReader, ScriptedClient};
use cogwork_read::measure;

/// The maximum work for each byte of a text. The worst text known takes about half of it.
const PER_BYTE: u64 = 200;

fn work(text: &str) -> u64 {
    let reader = ReplyReader::default().with_max_bytes(usize::MAX);
    measure(|| drop(reader.read(text))).1
}

/// Texts of about `n` pieces that once took the square of their length.
fn slow_texts(n: usize) -> Vec<(&'static str, String)> {
    let steps = "- description: x\n".repeat(n);
    vec![
        (
            "blank lines before a bracket",
            format!("```yaml\n{}{{", "\n".repeat(n)),
        ),
        (
            "lines of blanks before a bracket",
            format!("```yaml\n{}[", "   \n".repeat(n)),
        ),
        (
            "brackets before keys, and blanks at the end",
            "{c:".repeat(n) + &" ".repeat(n),
        ),
        (
            "commas before keys, and blanks at the end",
            format!(
                "current_thinking: x\nplanning: [{{description: a{}{}",
                ",x:".repeat(n),
                " ".repeat(n)
            ),
        ),
        (
            "lines that begin like keys in an open quote, and blanks at the end",
            format!(
                "{{\"current_thinking\": \"x{}{}",
                "\n\"x\":".repeat(n),
                " ".repeat(n)
            ),
        ),
        (
            "a long word before many lines",
            format!(
                "current_thinking: {}\n{}planning:\n",
                "a".repeat(n),
                "x\n".repeat(n)
            ),
        ),
        (
            "a long word before many lines of a step",
            format!(
                "current_thinking: x\nplanning:\n- {}\n{}",
                "a".repeat(n),
                "  x\n".repeat(n)
            ),
        ),
        (
            "the header of a block scalar that never ends, before many lines",
            format!("current_thinking: |{}\n{}", "-".repeat(n), "x\n".repeat(n)),
        ),
        (
            "a long status given again and again",
            format!(
                "current_thinking: x\nplanning:\n- description: a\n  status: {}\n{}",
                "a".repeat(n),
                "  status:\n".repeat(n)
            ),
        ),
        (
            "a list in brackets that is indented far",
            format!(
                "current_thinking: x\nplanning:\n- description: a\n{}sub_steps: [{}",
                " ".repeat(n),
                "{},".repeat(n)
            ),
        ),
        (
            "a list in brackets that is indented far in a text",
            format!(
                "current_thinking: x\nplanning:\n- description: |\n    x\n{}sub_steps: [{}",
                " ".repeat(n),
                "a,".repeat(n)
            ),
        ),
        (
            "quotes that nothing closes",
            format!(
                "{{\"current_thinking\": \"x\", \"planning\": [{}",
                "\"a\" ".repeat(n)
            ),
        ),
        ("thinking that never ends", "</think>\n".repeat(n)),
        ("fences that close nothing", "```\nplanning: x\n".repeat(n)),
        (
            "blocks that cannot be read",
            "```yaml\ncurrent_thinking: [\n```\n".repeat(n),
        ),
        (
            "documents",
            format!("```yaml\n{}", "---\ncurrent_thinking: x\n".repeat(n)),
        ),
        (
            "equal steps",
            format!("current_thinking: x\nplanning:\n{steps}next_thought_needed: no\n"),
        ),
        (
            "keys that a reply has not",
            format!("current_thinking: x\nplanning:\n{}", "a:\n".repeat(n)),
        ),
    ]
}

#[test]
fn reading_twice_the_text_takes_twice_the_work() {
    for ((what, short), (_, long)) in slow_texts(1000).into_iter().zip(slow_texts(2000)) {
        let once = work(&short);
        let twice = work(&long);

        let growth = twice as f64 / once as f64;
        let per_byte = twice / long.len() as u64;
        assert!(
            growth < 2.3,
            "{what}: {once} units of work became {twice}, {growth:.2} times as many"
        );
        assert!(
            per_byte <= PER_BYTE,
            "{what}: {per_byte} units of work for each byte"
        );
        assert!(
            once >= short.len() as u64,
            "{what}: {once} units of work are not all of it"
        );
    }
}

#[test]
fn reading_a_saved_state_takes_work_in_proportion_to_it() {
    let state = |n: usize| format!("problem: x\nthoughts:\n{}", "- {a: [b, c]}\n".repeat(n));
    let (_, once) = measure(|| Reasoning::from_yaml(&state(1000)).is_err());
    let (_, twice) = measure(|| Reasoning::from_yaml(&state(2000)).is_err());

    assert!(
        once > 0 && twice < once * 23 / 10,
        "{once} units of work became {twice}"
    );
}

/// The most work that one poll of a future takes on the thread that polls it.
async fn most_work_of_a_poll<T>(future: impl Future<Output = T>) -> (T, u64) {
    let mut future = pin!(future);
    let mut most = 0;

    let value = poll_fn(|context| {
        let (poll, work) = measure(|| future.as_mut().poll(context));
        most = most.max(work);
        poll
    });

    (value.await, most)
}

/// A long reply is read elsewhere: it takes none of the time between two looks at the deadline.
#[tokio::test]
async fn a_deadline_is_never_far_while_a_turn_reads_a_reply() {
    for (what, text) in slow_texts(6000) {
        let client = ScriptedClient::new([text.as_str()]);
        let limits = Limits::default().with_asks_again(0);
        let flow = ChainOfThought::new(client).with_limits(limits).into_flow();

        let mut reasoning = Reasoning::new("x");
        let (ended, work) = most_work_of_a_poll(flow.run(&mut reasoning)).await;

        assert!(
            work <= text.len() as u64,
            "{what}: one poll takes {work} units of work"
        );
        let tries = match &ended {
            Ok(_) => &reasoning.thoughts()[0].trace().tries,
            Err(error) => error.downcast_ref::<CotError>().unwrap().tries(),
        };
        assert_eq!(tries[0].reply, text, "{what}");
    }
}
