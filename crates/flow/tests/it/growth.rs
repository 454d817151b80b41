//! Twice as much to do takes twice the work. Work is counted in allocations, so that the test comes
//! out the same on every machine.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::lines;

use std::num::NonZeroU64;
use std::sync::Arc;

use allocation_counter::{AllocationInfo, measure};
use cogwork_flow::engine::{Journal, Json, MemoryJournal, Recorded};
use cogwork_flow::{Action, Each, Flow, Run, Wait, from_fn, from_phases};
use lines::Lines;

/// Does something with so many parts, on this thread alone.
fn work_of(parts: usize, work: impl AsyncFnOnce(usize)) -> AllocationInfo {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    measure(|| runtime.block_on(work(parts)))
}

/// Asserts that four times the parts take little more than four times the work.
fn grows_with_its_parts(work: impl AsyncFn(usize)) {
    let few = work_of(250, &work);
    let many = work_of(1_000, &work);

    let [count, bytes] = [
        many.count_total as f64 / few.count_total as f64,
        many.bytes_total as f64 / few.bytes_total as f64,
    ];
    assert!(
        count < 5.0 && bytes < 5.0,
        "{count:.1} times the allocations, {bytes:.1} times the bytes"
    );
}

/// Waits for one event after the other, each of its own name.
fn questions(count: usize) -> Flow<usize> {
    let mut flow = Flow::builder("questions").start("ask 0");
    for number in 0..count {
        let place = format!("ask {number}");
        let wait = Wait::for_event(event(number), |answers: &mut usize, (): ()| *answers += 1);
        flow = flow.wait(&place, wait);
        flow = if number + 1 < count {
            flow.edge(place, Action::DEFAULT, format!("ask {}", number + 1))
        } else {
            flow.end(place, Action::DEFAULT)
        };
    }

    flow.build().unwrap()
}

fn event(number: usize) -> String {
    format!("event {number}")
}

/// Takes as many steps as the state counts down.
fn countdown() -> Flow<usize> {
    let count = from_phases(
        |left: &mut usize| *left,
        |left| async move { Ok::<_, std::io::Error>(left - 1) },
        |left, less| {
            *left = less;
            Action::from_static(if less == 0 { "done" } else { "again" })
        },
    );
    Flow::builder("countdown")
        .start("count")
        .node("count", count.with_actions(["again", "done"]))
        .edge("count", "again", "count")
        .end("count", "done")
        .build()
        .unwrap()
}

/// A question for each of many items.
fn items(at_most: usize) -> Flow<Vec<u32>> {
    let question = Flow::builder("item")
        .start("ask")
        .wait(
            "ask",
            Wait::for_event("word", |item: &mut u32, word: u32| *item = word),
        )
        .end("ask", Action::DEFAULT)
        .build()
        .unwrap();

    let each = Each::at_most(
        at_most,
        question,
        |all: &Vec<u32>| all.clone(),
        |all, done| *all = done,
    );

    Flow::builder("items")
        .each("each", each)
        .chain(["each"])
        .build()
        .unwrap()
}

async fn answer_all(mut run: Run<'_, usize>, count: usize) {
    let mut answers = 0;
    for number in 0..count {
        let stopped = run.finish(&mut answers).await.unwrap_err();
        assert!(stopped.paused().is_some());
        run.deliver(&event(number), &()).await.unwrap();
    }

    run.finish(&mut answers).await.unwrap();
    assert_eq!(answers, count);
}

#[test]
fn answers_to_many_waits() {
    grows_with_its_parts(async |count| answer_all(questions(count).begin(), count).await);
    grows_with_its_parts(async |count| {
        let lines = Lines::default();
        answer_all(
            questions(count).begin().with_journal(lines.journal()),
            count,
        )
        .await;
    });
}

#[test]
fn items_that_wait_for_one_event() {
    grows_with_its_parts(async |count| {
        let flow = items(100);
        let lines = Lines::default();
        let mut all = vec![0; count];
        let mut run = flow
            .begin()
            .with_max_steps(u64::MAX)
            .with_journal(lines.journal());
        let stopped = run.finish(&mut all).await.unwrap_err();
        assert!(stopped.paused().is_some());

        for word in 0..count {
            run.deliver("word", &word).await.unwrap();
        }

        run.finish(&mut all).await.unwrap();

        Recorded::over("r", lines.all(), ()).unwrap();
    });
}

#[test]
fn items_that_are_answered_one_by_one() {
    grows_with_its_parts(async |count| {
        let flow = items(count);
        let journal = Arc::new(MemoryJournal::new("r"));
        let mut all = vec![0; count];
        let mut run = flow
            .begin()
            .with_max_steps(u64::MAX)
            .with_journal(Arc::clone(&journal))
            .with_live_waits();

        let answers = async {
            for word in 0..count {
                tokio::task::yield_now().await;
                let answer = Json::of(&word).unwrap();
                journal.deliver("word", answer).await.unwrap();
            }
        };
        let (ended, ()) = tokio::join!(run.finish(&mut all), answers);
        ended.unwrap();
    });
}

#[test]
fn steps_on_record_and_their_replay() {
    grows_with_its_parts(async |count| {
        let flow = countdown();
        let lines = Lines::default();
        for _ in 0..2 {
            let run = flow
                .begin()
                .with_max_steps(u64::MAX)
                .with_journal(lines.journal());
            { run }.finish(&mut { count }).await.unwrap();
        }
    });
}

#[test]
fn steps_of_a_run_that_is_folded() {
    grows_with_its_parts(async |count| {
        let flow = countdown();
        let lines = Lines::default();
        let run = flow
            .begin()
            .with_max_steps(u64::MAX)
            .with_journal(lines.journal());
        { run }
            .with_fold_every(NonZeroU64::MIN)
            .finish(&mut { count })
            .await
            .unwrap();
    });
}

#[test]
fn flows_and_their_graphs() {
    grows_with_its_parts(async |count| {
        let one = questions(count);
        let other = questions(count + 1);
        assert!(one.graph().difference(&other.graph()).is_some());
        assert_eq!(one.graph().events().len(), count);
    });
    grows_with_its_parts(async |count| {
        let flow = (0..count).fold(Flow::builder("unwired"), |flow, number| {
            flow.node(number.to_string(), from_fn(|(): &mut ()| ()))
                .edge("nowhere", number.to_string(), "gone")
        });
        assert!(flow.build().is_err());
    });
    grows_with_its_parts(async |count| {
        let labels = || (0..count).map(|number| number.to_string());
        let node = from_fn(|(): &mut ()| ()).with_actions(labels());
        let flow = Flow::builder("labels").start("node").node("node", node);
        let flow = labels().fold(flow, |flow, label| flow.end("node", label));
        assert_eq!(flow.build().unwrap().actions().len(), count);
    });
}

#[test]
fn folds_while_many_answers_wait_for_their_steps() {
    grows_with_its_parts(async |count| {
        let wait = Wait::for_event("word", |left: &mut usize, (): ()| {
            *left -= 1;
            Action::from_static(if *left == 0 { "done" } else { "again" })
        });
        let flow = Flow::builder("answers")
            .start("ask")
            .wait("ask", wait.with_actions(["again", "done"]));
        let flow = flow
            .edge("ask", "again", "ask")
            .end("ask", "done")
            .build()
            .unwrap();

        let lines = Lines::default();
        let mut run = flow
            .begin()
            .with_journal(lines.journal())
            .with_fold_every(NonZeroU64::MIN);
        for _ in 0..count {
            run.deliver("word", &()).await.unwrap();
        }

        run.finish(&mut { count }).await.unwrap();
        assert!(
            lines.all().len() < 10,
            "the record is short once they are taken"
        );
    });
}
