//! Runs that stay at their waits until the answers are delivered to the journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cogwork_flow::engine::{Journal, Json, MemoryJournal, wait_for};
use cogwork_flow::watch::{EventKind, events};
use cogwork_flow::{Action, Batch, BoxError, CancellationToken, Each, Flow, Node};
use tokio::time::sleep;

use super::{Notes, ask, asking, pauses};

async fn answer(journal: &MemoryJournal, event: &str, word: &str) {
    let answer = Json::of(&word).unwrap();
    journal.deliver(event, answer).await.unwrap();
    sleep(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn items_go_on_one_by_one_and_nothing_is_replayed() {
    let calls = Arc::default();
    let each = Each::at_most(
        3,
        asking(ask("word"), &calls),
        |all: &Vec<Notes>| all.clone(),
        |all, done| *all = done,
    );
    let flow = Flow::builder("pages")
        .each("page", each)
        .chain(["page"])
        .build()
        .unwrap();

    let journal = Arc::new(MemoryJournal::new("r"));
    let (sink, mut events) = events(100);
    let mut all = vec![Notes::new(); 3];
    let mut run = flow
        .begin()
        .with_journal(Arc::clone(&journal))
        .with_live_waits()
        .with_events(sink);

    let answers = async {
        sleep(Duration::from_secs(1)).await;
        for (word, calls_after) in [("one", 4), ("two", 5), ("three", 6)] {
            answer(&journal, "word", word).await;
            assert_eq!(calls.load(Ordering::SeqCst), calls_after);
        }
    };
    let (ended, ()) = tokio::join!(run.finish(&mut all), answers);
    ended.unwrap();
    drop(run);

    let words: Vec<_> = all.iter().map(|notes| notes[1].as_str()).collect();
    assert_eq!(words, ["one", "two", "three"]);

    let (mut waits, mut entered, mut replayed) = (0, 0, 0);
    while let Some(event) = events.next().await {
        waits += usize::from(matches!(event.kind, EventKind::Paused(_)));
        entered += usize::from(matches!(event.kind, EventKind::StepEntered));
        replayed += usize::from(matches!(event.kind, EventKind::Replayed));
    }
    assert_eq!((waits, entered, replayed), (3, 10, 0));
}

/// Asks for a word inside `exec`.
struct Asks(Arc<AtomicUsize>);

impl Node<String> for Asks {
    type Prep = String;
    type Exec = String;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, event: &mut String) -> Result<String, BoxError> {
        Ok(event.clone())
    }

    async fn exec(&self, event: &String) -> Result<String, BoxError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let answer = wait_for::<String>(event, "", Some(Duration::from_secs(60)), None).await?;
        Ok(answer.unwrap_or_else(|| "nothing".to_owned()))
    }

    fn post(&self, state: &mut String, _: String, answer: String) -> Result<Action, BoxError> {
        *state = answer;
        Ok(Action::DEFAULT)
    }
}

#[tokio::test(start_paused = true)]
async fn waits_inside_exec_are_answered_or_time_out() {
    let calls = Arc::default();
    let batch = Batch::at_most(
        3,
        Asks(Arc::clone(&calls)),
        |events: &Notes| events.clone(),
        |events, answers| *events = answers,
    );
    let flow = Flow::builder("questions")
        .batch("ask", batch)
        .chain(["ask"])
        .build()
        .unwrap();

    let journal = Arc::new(MemoryJournal::new("r"));
    let mut state: Notes = ["a", "b", "c"].map(str::to_owned).into();
    let mut run = flow
        .begin()
        .with_live_waits()
        .with_journal(Arc::clone(&journal));
    let answers = async {
        answer(&journal, "c", "C").await;
        answer(&journal, "a", "A").await;
    };

    let (ended, ()) = tokio::join!(run.finish(&mut state), answers);
    ended.unwrap();
    assert_eq!(state, ["A", "nothing", "C"]);
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn a_token_stops_the_wait_and_a_run_without_a_journal_pauses() {
    let flow = asking(ask("word"), &Arc::default());

    let token = CancellationToken::new();
    let mut state = Notes::new();
    let mut run = flow
        .begin()
        .with_journal(MemoryJournal::new("r"))
        .with_live_waits()
        .with_cancellation(token.clone());
    let cancelled = async {
        sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let (stopped, ()) = tokio::join!(run.finish(&mut state), cancelled);
    assert!(stopped.unwrap_err().is_cancelled());

    let mut run = flow.begin().with_live_waits();
    let paused = pauses(&mut run, &mut Notes::new()).await;
    assert_eq!(paused.event, "word");
}
