//! The output for people, and the calls of a reporter.

use std::io::{self, Write};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_cot::{ChainOfThought, ConsoleReporter, Reasoning, ReasoningEvent, Reporter};
use cogwork_llm::{
    ChatResponse, LlmClient, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply, Usage,
};
use cogwork_typed::ask::Limits;
use insta::assert_snapshot;

use crate::node::support::{EARLY, FIRST, LAST, PROSE, SECOND, Stateless, poll_times, reasoning};

/// Standard output, for a test to look at. Takes a few bytes at a time, as a writer may.
#[derive(Clone, Default)]
pub(crate) struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(7);
        self.0.lock().unwrap().extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn run(client: impl LlmClient + 'static, reporter: impl Reporter + 'static) -> Reasoning {
    let mut reasoning = reasoning();
    let node = ChainOfThought::new(client).with_reporter(reporter);
    node.into_flow().run(&mut reasoning).await.unwrap();

    reasoning
}

/// A run with all that the console has a form for.
fn eventful() -> ScriptedClient {
    const PLAN: &str = "\
```yaml
current_thinking: I read the problem and make a plan.
planning:
  - {description: Read the problem, status: Done, result: two operations}
  - {description: Work it out, status: Pending}
  - {description: Conclusion, status: Pending}
next_thought_needed: true
```";

    const BROKEN_DOWN: &str = "\
```yaml
current_thinking: |
  Evaluation of thought 1: right, but the second step is too large.
  I break it down.
planning:
  - {description: Read the problem, status: Done, result: two operations}
  - description: Work it out
    status: Pending
    sub_steps:
      - description: Multiply
        status: Done
        result: 134
        sub_steps:
          - {description: Tens, status: Done, result: 120}
          - {description: Ones, status: Done, result: 14}
      - {description: Add, status: Pending}
  - {description: Conclusion, status: Pending}
next_thought_needed: true
```";

    const REPAIRED: &str = "\
```yaml
current_thinking: |
  Evaluation of thought 2: wrong. 2 * 12 is not 14.

  12 * 12 = 120 + 24.
planning:
  - {description: Read the problem, status: Done, result: two operations}
  - description: Work it out
    status: Pending
    sub_steps:
      - description: Multiply
        status: Verification Needed
        mark: 2 * 12 was wrong
        sub_steps:
          - {description: Tens, status: Done, result: 120}
          - {description: Ones, status: Verification Needed, result: 24, mark: was 14}
      - {description: Add, status: Pending}
  - {description: Conclusion, status: Pending}
next_thought_needed: true
```";

    let reply = |text: &str| {
        let response = ChatResponse::new(text).with_usage(Usage::new(1000, 70));
        ScriptedReply::from(response).after(Duration::from_millis(1200))
    };
    ScriptedClient::default()
        .then(reply(PLAN))
        .then(reply(PROSE))
        .then(reply(BROKEN_DOWN))
        .then(reply(REPAIRED))
        .then(reply(REPAIRED))
        .then(reply(EARLY))
        .then(reply(EARLY))
}

#[tokio::test(start_paused = true)]
async fn the_console_shows_a_whole_run_in_plain_text() {
    let screen = Screen::default();
    run(eventful(), ConsoleReporter::to(screen.clone())).await;
    assert_snapshot!(screen.text());
}

#[tokio::test(start_paused = true)]
async fn the_console_shows_a_whole_run_in_colour() {
    let plain = Screen::default();
    let colored = Screen::default();
    run(eventful(), ConsoleReporter::to(plain.clone())).await;
    run(
        eventful(),
        ConsoleReporter::to(colored.clone()).with_colors(true),
    )
    .await;

    let colored = colored.text();
    assert_snapshot!(colored.replace('\u{1b}', "␛"));

    // Colour adds to the text and changes none of it, and every style is closed in its line.
    let mut bare = String::new();
    for line in colored.split_inclusive('\n') {
        let mut pieces = line.split('\u{1b}');
        bare.push_str(pieces.next().unwrap());
        let mut open = false;

        for piece in pieces {
            let (code, text) = piece.split_once('m').unwrap();
            open = code != "[0";
            bare.push_str(text);
        }

        assert!(!open, "{line:?}");
    }

    assert_eq!(bare, plain.text());
}

#[tokio::test(start_paused = true)]
async fn a_reasoning_without_a_conclusion_is_not_shown_as_an_answer() {
    for conclusion in ["", ", result: \"\"", ", result: \" \""] {
        let gave_up = format!(
            "```yaml\ncurrent_thinking: I cannot solve this.\n\
             planning: [{{description: Conclusion, status: Done{conclusion}}}]\n\
             next_thought_needed: false\n```"
        );
        let screen = Screen::default();
        run(
            ScriptedClient::new([gave_up]),
            ConsoleReporter::to(screen.clone()),
        )
        .await;

        let text = screen.text();
        let shown = "Ended without a conclusion\nI cannot solve this.\n";
        assert!(text.contains(shown), "{text}");
        assert!(!text.contains("Answer"), "{text}");
    }
}

/// A run in a runtime of its own with a paused clock, so that every turn takes no time.
fn run_alone(problem: &str, reporter: impl Reporter + 'static) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();

    let node = ChainOfThought::new(Stateless::new(&[FIRST, SECOND, LAST])).with_reporter(reporter);
    let mut reasoning = Reasoning::new(problem);
    runtime
        .block_on(node.into_flow().run(&mut reasoning))
        .unwrap();
}

#[test]
fn runs_side_by_side_do_not_mix_their_lines() {
    let screen = Screen::default();
    let reporter = Arc::new(ConsoleReporter::to(screen.clone()));
    let problems: Vec<String> = (0..8).map(|run| format!("Problem {run}")).collect();
    std::thread::scope(|scope| {
        for problem in &problems {
            let reporter = Arc::clone(&reporter);
            scope.spawn(move || run_alone(problem, reporter));
        }
    });

    let mut pieces = Vec::new();
    for problem in &problems {
        let screen = Screen::default();
        run_alone(problem, ConsoleReporter::to(screen.clone()));
        let text = screen.text();
        let (started, rest) = text.split_at(text.find("Thought 1\n").unwrap());
        let (first, rest) = rest.split_at(rest.find("Thought 2\n").unwrap());
        let (second, rest) = rest.split_at(rest.find("Thought 3\n").unwrap());
        let (third, answer) = rest.split_at(rest.find("Answer\n").unwrap());

        pieces.extend([started, first, second, third, answer].map(str::to_owned));
    }

    let text = screen.text();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        rest = pieces
            .iter()
            .find_map(|piece| rest.strip_prefix(piece.as_str()))
            .expect("a whole piece");
    }

    assert_eq!(text.len(), pieces.iter().map(String::len).sum::<usize>());
}

/// Writes down what it hears.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn text(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }
}

impl Reporter for Log {
    fn event(&self, event: &ReasoningEvent) {
        self.add(match event {
            ReasoningEvent::Working { thought } => format!("working {thought}"),
            ReasoningEvent::Stopped { thought } => format!("stopped {thought}"),
            ReasoningEvent::AskingAgain { thought, problem } => {
                let is_prose = problem.contains("the reply has no YAML block");
                let what = if is_prose { "no block" } else { "ended early" };
                format!("asking again {thought}: {what}")
            }
            ReasoningEvent::Thought { thought, .. } => format!("thought {thought}"),
            ReasoningEvent::Ended { solution, .. } => format!("ended: {solution:?}"),
            _ => return,
        });
    }
}

#[tokio::test]
async fn a_reporter_hears_a_run_in_order() {
    let log = Log::default();
    run(
        ScriptedClient::new([FIRST, PROSE, EARLY, EARLY]),
        log.clone(),
    )
    .await;

    assert_snapshot!(log.text(), @r#"
    working 1
    stopped 1
    thought 1
    working 2
    asking again 2: no block
    asking again 2: ended early
    stopped 2
    thought 2
    ended: Some("The answer is 150.")
    "#);
}

#[tokio::test(start_paused = true)]
async fn working_stops_with_an_error_a_limit_and_a_run_given_up() {
    let broken = ScriptedClient::default().then(LlmError::new(LlmErrorKind::Server, "on fire"));
    let prose = ScriptedClient::new([PROSE; 3]);
    let hanging =
        || ScriptedClient::default().then(ScriptedReply::from(LAST).after(Duration::from_secs(9)));
    let limits = Limits::default().with_time(Duration::from_secs(5));

    for client in [broken, prose, hanging()] {
        let log = Log::default();
        let node = ChainOfThought::new(client)
            .with_reporter(log.clone())
            .with_limits(limits);
        node.into_flow().run(&mut reasoning()).await.unwrap_err();
        let text = log.text();

        assert!(
            text.starts_with("working 1\n") && text.ends_with("stopped 1"),
            "{text}"
        );
        assert!(!text.contains("thought"), "{text}");
    }

    let log = Log::default();
    let flow = ChainOfThought::new(hanging())
        .with_reporter(log.clone())
        .into_flow();
    {
        let mut reasoning = reasoning();
        let mut run = pin!(flow.run(&mut reasoning));
        assert!(poll_times(run.as_mut(), 1).await.is_none());
        assert_eq!(log.text(), "working 1");
    }
    assert_eq!(log.text(), "working 1\nstopped 1");
}
