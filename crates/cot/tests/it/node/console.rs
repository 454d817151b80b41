//! The output on a terminal.

use std::io::{self, Write};
use std::sync::Arc;

use cogwork_cot::{ChainOfThought, ConsoleReporter, Reasoning, ReasoningEvent, Reply, Reporter};
use cogwork_llm::ScriptedClient;
use cogwork_typed::{AnswerReader, GrowingText, Growth};
use indicatif::{InMemoryTerm, TermLike};
use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr;

use crate::node::support::{FIRST, LAST, PROBLEM};

fn growing() -> GrowingText<Reply> {
    GrowingText::new(AnswerReader::new(), "current_thinking")
}

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

fn thinking(growth: Growth<'_>) -> ReasoningEvent {
    ReasoningEvent::Thinking {
        thought: 1,
        text: growth.added().to_owned(),
        is_start: growth.is_start(),
    }
}

const ENGLISH: &str = "\
```yaml
current_thinking: |
  The problem asks for the total distance, so I add the distances of both parts of the journey.
  - The first part takes 2.5 hours at 60 km/h, which makes 150 km on the motorway.
  12. The second part takes 40 minutes at 90 km/h, which makes 60 km on the old road to the coast.

  https://example.com/a/very/long/address/without/any/blank/that/does/not/fit/into/a/line
planning:
  - description: Read the problem and find out which quantities are given
    status: Done
    result: speeds and times of both parts of the journey
  - description: Work out the distance of each part of the journey, one after the other
    status: Pending
    sub_steps:
      - description: Multiply the speed of the first part by its time, in hours
        status: Done
        result: 60 * 2.5 = 150 km, which is most of the way
      - description: Multiply the speed of the second part by its time, in hours
        status: Verification Needed
        result: 90 * 40 = 3600 km
        mark: the time was in minutes and has to be converted
  - description: Conclusion
    status: Pending
next_thought_needed: true
```";

const CHINESE: &str = "\
```yaml
current_thinking: |
  这道题要求总路程,所以我先分别计算两段路程,然后把它们相加,最后检查结果是否合理。
  1. 第一段以每小时六十公里的速度行驶两个半小时,一共是一百五十公里。👩\u{200d}🚀 cafe\u{301}
planning:
  - description: 阅读题目并找出已知的速度和时间,确认每一段路程使用的单位
    status: Done
    result: 两段路程的速度和时间都已经给出
    sub_steps:
      - description: 把分钟换算成小时,因为速度的单位是每小时公里
        status: Pending
  - description: 得出结论
    status: Pending
next_thought_needed: true
```";

/// The event of the thought that this reply gives.
async fn thought(reply: &str) -> ReasoningEvent {
    let mut stream =
        ChainOfThought::new(ScriptedClient::new([reply])).stream(Reasoning::new(PROBLEM));
    loop {
        let event = stream.next().await.unwrap();
        if let ReasoningEvent::Thought { .. } = event {
            return event;
        }
    }
}

async fn page(reply: &str, columns: u16) -> String {
    let out = crate::node::reporting::Screen::default();
    let reporter = ConsoleReporter::to(out.clone()).with_terminal(InMemoryTerm::new(24, columns));
    reporter.event(&thought(reply).await);

    let text = out.text();
    for line in text.lines() {
        assert!(line.width() <= usize::from(columns), "{line:?}");
    }
    text
}

#[tokio::test(start_paused = true)]
async fn english_is_wrapped_to_the_width() {
    assert_snapshot!("english_40", page(ENGLISH, 40).await);
    assert_snapshot!("english_60", page(ENGLISH, 60).await);
    assert_snapshot!("english_100", page(ENGLISH, 100).await);
}

#[tokio::test(start_paused = true)]
async fn chinese_is_wrapped_by_the_width_of_its_characters() {
    assert_snapshot!("chinese_40", page(CHINESE, 40).await);
    assert_snapshot!("chinese_60", page(CHINESE, 60).await);
}

#[tokio::test(start_paused = true)]
async fn a_growing_thought_is_shown_and_then_replaced() {
    let terminal = InMemoryTerm::new(30, 50);
    let reporter = reporter(&terminal);
    reporter.event(&ReasoningEvent::Started {
        problem: PROBLEM.to_owned(),
    });

    reporter.event(&ReasoningEvent::Working { thought: 1 });
    let mut growing = growing();
    let mut frames = String::new();

    for text in ENGLISH.split_inclusive("journey").take(2) {
        reporter.event(&piece(text));
        if let Some(growth) = growing.push(text) {
            reporter.event(&thinking(growth));
        }
        frames += &format!("{}\n----\n", lines(&terminal));
    }

    growing.push(ENGLISH.split_once("journey").unwrap().1);
    let growth = growing.finish("The tail of the text.\u{1b}[2J\u{202e}");
    reporter.event(&thinking(growth.unwrap()));
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
                reporter.event(&ReasoningEvent::Thinking {
                    thought: 1,
                    text: text.to_owned(),
                    is_start: false,
                });
            }

            let height = lines(&terminal).lines().count();
            assert!(
                height <= 1 + usize::from(rows / 3).min(6),
                "{columns}x{rows}: {}",
                lines(&terminal)
            );

            reporter.event(&ReasoningEvent::Stopped { thought: 1 });
            assert_eq!(lines(&terminal), "", "{columns}x{rows}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_run_nothing_of_the_growing_thoughts_is_left() {
    let terminal = InMemoryTerm::new(60, 60);
    let plain = crate::node::reporting::Screen::default();

    for reporter in [
        reporter(&terminal),
        ConsoleReporter::to(plain.clone()).with_terminal(InMemoryTerm::new(24, 60)),
    ] {
        let client = ScriptedClient::new([FIRST, LAST]);
        let flow = ChainOfThought::new(client)
            .with_reporter(reporter)
            .into_flow();
        flow.run(&mut Reasoning::new(PROBLEM)).await.unwrap();
    }

    assert_eq!(lines(&terminal), plain.text().trim_end());
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_run_leaves_a_clean_terminal_and_a_summary() {
    use cogwork_flow::CancellationToken;
    use cogwork_llm::ScriptedReply;
    use std::time::Duration;

    let terminal = InMemoryTerm::new(40, 60);
    let reporter = Arc::new(reporter(&terminal));
    let slow = ScriptedReply::in_pieces([&LAST[..60], &LAST[60..]]).after(Duration::from_secs(60));
    let client = ScriptedClient::new([FIRST.into(), slow]);
    let flow = ChainOfThought::new(client)
        .with_reporter(Arc::clone(&reporter))
        .into_flow();

    let token = CancellationToken::new();
    let mut reasoning = Reasoning::new(PROBLEM);
    let run = flow.begin().with_cancellation(token.clone());
    let interrupt = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let mut run = run;
    let (ended, ()) = tokio::join!(run.finish(&mut reasoning), interrupt);

    assert!(ended.unwrap_err().is_cancelled());
    reporter.event(&piece(&LAST[..60]));
    reporter.interrupted(&reasoning);
    assert_snapshot!(lines(&terminal));
}
