//! The output for people, and the calls of a reporter.

use std::io::{self, Write};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_cot::{ChainOfThought, ConsoleReporter, Reasoning, ReasoningEvent, Reporter};
use cogwork_llm::{ChatResponse, LlmError, LlmErrorKind, ScriptedClient, ScriptedReply, Usage};
use cogwork_typed::ask::Limits;
use insta::assert_snapshot;

use crate::node::support::{
    EARLY, FIRST, LAST, PROSE, SECOND, Stateless, failure, poll_times, solve,
};

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

/// What is printed during a run.
async fn printed(client: ScriptedClient, has_colors: bool) -> String {
    let screen = Screen::default();
    let reporter = ConsoleReporter::to(screen.clone()).with_colors(has_colors);
    solve(ChainOfThought::new(client).with_reporter(reporter)).await;
    screen.text()
}

/// A run with all that the console has a form for.
fn eventful() -> ScriptedClient {
    let plan = include_str!("../../fixtures/shown/plan.txt");
    let broken_down = include_str!("../../fixtures/shown/broken_down.txt");
    let repaired = include_str!("../../fixtures/shown/repaired.txt");

    let reply = |text: &str| {
        let response = ChatResponse::new(text).with_usage(Usage::new(1000, 70));
        ScriptedReply::from(response).after(Duration::from_millis(1200))
    };
    let replies = [plan, PROSE, broken_down, repaired, repaired, EARLY, EARLY];
    ScriptedClient::new(replies.map(reply))
}

#[tokio::test(start_paused = true)]
async fn the_console_shows_a_whole_run_in_plain_text_and_in_colour() {
    let plain = printed(eventful(), false).await;
    let colored = printed(eventful(), true).await;
    assert_snapshot!("plain", plain);
    assert_snapshot!("colored", colored.replace('\u{1b}', "␛"));

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
    assert_eq!(bare, plain);
}

#[tokio::test(start_paused = true)]
async fn a_reasoning_without_a_conclusion_is_not_shown_as_an_answer() {
    for conclusion in ["", ", result: \"\"", ", result: \" \""] {
        let gave_up = format!(
            "```yaml\ncurrent_thinking: I cannot solve this.\n\
             planning: [{{description: Conclusion, status: Done{conclusion}}}]\n\
             next_thought_needed: false\n```"
        );
        let text = printed(ScriptedClient::new([gave_up]), false).await;
        let shown = "Ended without a conclusion\nI cannot solve this.\n";
        assert!(text.contains(shown), "{text}");
        assert!(!text.contains("Answer"), "{text}");
    }
}

/// A run of its own in this thread, in which every turn takes no time.
fn run_alone(problem: &str, reporter: impl Reporter + 'static) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let node = ChainOfThought::new(Stateless::new(&[FIRST, SECOND, LAST]));
    let flow = node.with_reporter(reporter).into_flow();
    let ended = runtime.block_on(flow.run(&mut Reasoning::new(problem)));
    ended.unwrap();
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

    // The pieces in which each run alone is printed.
    let mut pieces = Vec::new();
    for problem in &problems {
        let screen = Screen::default();
        run_alone(problem, ConsoleReporter::to(screen.clone()));
        let mut text = screen.text();
        for title in ["Answer\n", "Thought 3\n", "Thought 2\n", "Thought 1\n"] {
            pieces.push(text.split_off(text.find(title).unwrap()));
        }
        pieces.push(text);
    }

    let text = screen.text();
    assert_eq!(text.len(), pieces.iter().map(String::len).sum::<usize>());
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let mut pieces = pieces.iter();
        let after = pieces.find_map(|piece| rest.strip_prefix(piece.as_str()));
        rest = after.expect("a whole piece");
    }
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
    let node = ChainOfThought::new(ScriptedClient::new([FIRST, PROSE, EARLY, EARLY]));
    solve(node.with_reporter(log.clone())).await;
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
    let broken = ScriptedClient::new([LlmError::new(LlmErrorKind::Server, "on fire")]);
    let prose = ScriptedClient::new([PROSE; 3]);
    let late = || ScriptedReply::from(LAST).after(Duration::from_secs(9));
    let hanging = || ScriptedClient::new([late()]);
    let limits = Limits::default().with_time(Duration::from_secs(5));

    for client in [broken, prose, hanging()] {
        let log = Log::default();
        let node = ChainOfThought::new(client).with_reporter(log.clone());
        failure(node.with_limits(limits)).await;
        let text = log.text();
        assert!(text.starts_with("working 1\n") && text.ends_with("stopped 1"));
        assert!(!text.contains("thought"), "{text}");
    }

    let log = Log::default();
    let node = ChainOfThought::new(hanging()).with_reporter(log.clone());
    {
        let mut run = pin!(solve(node));
        assert!(poll_times(run.as_mut(), 1).await.is_none());
        assert_eq!(log.text(), "working 1");
    }
    assert_eq!(log.text(), "working 1\nstopped 1");
}
