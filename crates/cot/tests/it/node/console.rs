//! The output on a terminal.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use cogwork_cot::{ChainOfThought, ConsoleReporter, Reasoning, ReasoningEvent, Reply, Reporter};
use cogwork_flow::CancellationToken;
use cogwork_llm::{ScriptedClient, ScriptedReply};
use cogwork_typed::{AnswerReader, GrowingText};
use indicatif::{InMemoryTerm, TermLike};
use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr;

use crate::node::reporting::Screen;
use crate::node::support::{FIRST, LAST, PROBLEM, solve};

/// What is written to a terminal.
struct Output(InMemoryTerm);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // As the line discipline of a terminal does it.
        let text = String::from_utf8_lossy(bytes).replace('\n', "\r\n");
        self.0.write_str(&text)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The lines on a terminal, without the spinner and the time, which depend on the clock.
fn lines(terminal: &InMemoryTerm) -> String {
    let contents = terminal.contents();
    let lines = contents.lines().map(|line| match line.split_once(" … ") {
        Some((before, after)) if before.contains(" Thought ") => {
            let number = before.split(' ').next_back().unwrap();
            let tokens = after.split_once(',').map_or("", |(_, tokens)| tokens);
            format!("* Thought {number} … 0s,{tokens}")
        }
        _ => line.to_owned(),
    });

    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// A console with a reporter on the same terminal.
fn reporter(terminal: &InMemoryTerm) -> ConsoleReporter {
    ConsoleReporter::to(Output(terminal.clone())).with_terminal(terminal.clone())
}

fn piece(text: &str) -> ReasoningEvent {
    ReasoningEvent::ReplyPiece {
        thought: 1,
        text: text.to_owned(),
    }
}

fn thinking(text: &str, is_start: bool) -> ReasoningEvent {
    ReasoningEvent::Thinking {
        thought: 1,
        text: text.to_owned(),
        is_start,
    }
}

const ENGLISH: &str = include_str!("../../fixtures/shown/english.txt");
const CHINESE: &str = include_str!("../../fixtures/shown/chinese.txt");

/// The event of the thought that this reply gives.
async fn thought(reply: &str) -> ReasoningEvent {
    let node = ChainOfThought::new(ScriptedClient::new([reply]));
    let mut stream = Arc::new(node.into_flow()).stream(Reasoning::new(PROBLEM), |run| run);
    loop {
        let item = stream.next().await.unwrap();
        if let Some(event @ ReasoningEvent::Thought { .. }) = ReasoningEvent::of(&item) {
            return event;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn texts_are_wrapped_by_the_width_of_their_characters() {
    for (columns, name, reply) in [
        (40, "english", ENGLISH),
        (60, "english", ENGLISH),
        (100, "english", ENGLISH),
        (40, "chinese", CHINESE),
        (60, "chinese", CHINESE),
    ] {
        let screen = Screen::default();
        let reporter = ConsoleReporter::to(screen.clone());
        let reporter = reporter.with_terminal(InMemoryTerm::new(24, columns));
        reporter.event(&thought(reply).await);

        let page = screen.text();
        let mut lines = page.lines();
        assert!(
            lines.all(|line| line.width() <= usize::from(columns)),
            "{page}"
        );
        assert_snapshot!(format!("{name}_{columns}"), page);
    }
}

#[tokio::test(start_paused = true)]
async fn a_growing_thought_is_shown_and_then_replaced() {
    let terminal = InMemoryTerm::new(30, 50);
    let reporter = reporter(&terminal);
    reporter.event(&ReasoningEvent::Started {
        problem: PROBLEM.to_owned(),
    });

    reporter.event(&ReasoningEvent::Working { thought: 1 });
    let mut growing = GrowingText::<Reply>::new(AnswerReader::new(), "current_thinking");
    let mut frames = String::new();

    for text in ENGLISH.split_inclusive("journey").take(2) {
        reporter.event(&piece(text));
        if let Some(growth) = growing.push(text) {
            reporter.event(&thinking(growth.added, growth.is_start));
        }
        frames += &format!("{}\n----\n", lines(&terminal));
    }

    growing.push(ENGLISH.split_once("journey").unwrap().1);
    let growth = growing
        .finish("The tail of the text.\u{1b}[2J\u{202e}")
        .unwrap();
    reporter.event(&thinking(growth.added, growth.is_start));
    frames += &format!("{}\n----\n", lines(&terminal));

    reporter.event(&ReasoningEvent::Stopped { thought: 1 });
    frames += &format!("{}\n----\n", lines(&terminal));
    reporter.event(&thought(FIRST).await);
    frames += &lines(&terminal);

    assert_snapshot!(frames);
}

#[tokio::test(start_paused = true)]
async fn the_tail_of_a_thought_fits_into_the_terminal() {
    for (columns, rows) in [(20, 6), (40, 12), (80, 24), (200, 50)] {
        for text in [
            ENGLISH,
            CHINESE,
            &"long ".repeat(10_000),
            &"思".repeat(10_000),
            &"\n".repeat(500),
        ] {
            let terminal = InMemoryTerm::new(rows, columns);
            let reporter = reporter(&terminal);
            reporter.event(&ReasoningEvent::Working { thought: 1 });

            let mut rest = text;
            while !rest.is_empty() {
                let end = (197..=rest.len()).find(|end| rest.is_char_boundary(*end));
                let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
                rest = after;
                reporter.event(&thinking(text, false));
            }

            let shown = lines(&terminal);
            let most = 1 + usize::from(rows / 3).min(6);
            assert!(shown.lines().count() <= most, "{columns}x{rows}: {shown}");

            reporter.event(&ReasoningEvent::Stopped { thought: 1 });
            assert_eq!(lines(&terminal), "", "{columns}x{rows}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_run_nothing_of_the_growing_thoughts_is_left() {
    let terminal = InMemoryTerm::new(60, 60);
    let plain = Screen::default();

    for reporter in [
        reporter(&terminal),
        ConsoleReporter::to(plain.clone()).with_terminal(InMemoryTerm::new(24, 60)),
    ] {
        let node = ChainOfThought::new(ScriptedClient::new([FIRST, LAST]));
        solve(node.with_reporter(reporter)).await;
    }

    assert_eq!(lines(&terminal), plain.text().trim_end());
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_run_leaves_a_clean_terminal_and_a_summary() {
    let terminal = InMemoryTerm::new(40, 60);
    let reporter = Arc::new(reporter(&terminal));
    let slow = ScriptedReply::in_pieces([&LAST[..60], &LAST[60..]]).after(Duration::from_secs(60));
    let client = ScriptedClient::new([FIRST.into(), slow]);
    let node = ChainOfThought::new(client).with_reporter(Arc::clone(&reporter));
    let flow = node.into_flow();
    let token = CancellationToken::new();
    let mut reasoning = Reasoning::new(PROBLEM);
    let mut run = flow.begin().with_cancellation(token.clone());
    let interrupt = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let (ended, ()) = tokio::join!(run.finish(&mut reasoning), interrupt);

    assert!(ended.unwrap_err().is_cancelled());
    reporter.event(&piece(&LAST[..60]));
    reporter.interrupted(&reasoning);
    assert_snapshot!(lines(&terminal));
}
