//! A clock that is set makes no sleep and no wait longer than it was to be.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::lines;

use std::time::{Duration, SystemTime};

use cogwork_flow::engine::Recorded;
use cogwork_flow::{Action, Ended, Flow, Run, RunError, Wait};
use lines::Lines;
use tokio::time::{Instant, advance, timeout};

const SECOND: Duration = Duration::from_secs(1);
const LIMIT: Duration = Duration::from_secs(100);

/// A machine on which programs come and go: its disk, and its clock, which somebody may set.
struct Machine {
    disk: Lines,
    day: SystemTime,
    since: Instant,
}

impl Machine {
    fn new() -> Self {
        let day = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        Self {
            disk: Lines::default(),
            day,
            since: Instant::now(),
        }
    }

    fn now(&self) -> SystemTime {
        self.day + self.since.elapsed()
    }

    fn set_back(&mut self, by: Duration) {
        self.day -= by;
    }

    fn set_forward(&mut self, by: Duration) {
        self.day += by;
    }

    /// The journal of a program that was just started.
    fn journal(&self) -> Recorded<Lines> {
        self.disk.journal().with_time(self.now())
    }

    async fn run(&self, flow: &Flow<u32>, state: &mut u32) -> Result<Ended, RunError> {
        let mut run = flow.begin().with_journal(self.journal());
        run.finish(state).await
    }
}

fn sleeping() -> Flow<u32> {
    Flow::builder("nap")
        .sleep("nap", |_| LIMIT)
        .chain(["nap"])
        .build()
        .unwrap()
}

fn waiting() -> Flow<u32> {
    Flow::builder("ask")
        .start("ask")
        .wait(
            "ask",
            Wait::for_event("word", |_: &mut u32, (): ()| ()).with_timeout(LIMIT),
        )
        .end("ask", "default")
        .end("ask", Action::TIMED_OUT)
        .build()
        .unwrap()
}

/// Runs for a time; answers whether it has ended.
async fn ends_within(time: Duration, run: &mut Run<'_, u32>) -> bool {
    timeout(time, run.finish(&mut 0))
        .await
        .is_ok_and(|ended| ended.is_ok())
}

/// When the run that waits is told that it will be too late; `None` when it is.
async fn limit(run: &mut Run<'_, u32>) -> Option<SystemTime> {
    let error = run.finish(&mut 0).await.err()?;
    error.into_paused().unwrap().until
}

/// How far somebody may set a clock back, by mistake or on purpose.
const SET_BACK: [Duration; 6] = [
    Duration::from_millis(2),
    SECOND,
    Duration::from_secs(39),
    Duration::from_secs(100),
    Duration::from_secs(3_600),
    Duration::from_secs(30 * 365 * 86_400),
];

#[tokio::test(start_paused = true)]
async fn a_sleep_is_no_longer_when_the_clock_is_set_back() {
    for by in SET_BACK {
        let flow = sleeping();
        let mut machine = Machine::new();
        assert!(
            !ends_within(
                40 * SECOND,
                &mut flow.begin().with_journal(machine.journal())
            )
            .await
        );

        machine.set_back(by);
        let start = Instant::now();
        machine.run(&flow, &mut 0).await.unwrap();

        assert!(
            start.elapsed() <= LIMIT,
            "set back by {by:?}, it slept for {:?}",
            start.elapsed()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_no_longer_when_the_clock_is_set_back() {
    for by in SET_BACK {
        let flow = waiting();
        let mut machine = Machine::new();
        let first = limit(&mut flow.begin().with_journal(machine.journal()))
            .await
            .unwrap();
        assert_eq!(first, machine.now() + LIMIT);
        advance(40 * SECOND).await;

        machine.set_back(by);
        let latest = machine.now() + LIMIT;
        let until = limit(&mut flow.begin().with_journal(machine.journal()))
            .await
            .unwrap();

        assert!(
            until <= latest,
            "set back by {by:?}, it waits for {:?}",
            until.duration_since(machine.now())
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_sleep_goes_on_while_no_program_runs() {
    let flow = sleeping();
    let mut machine = Machine::new();
    let start = Instant::now();
    while !ends_within(
        15 * SECOND,
        &mut flow.begin().with_journal(machine.journal()),
    )
    .await
    {}
    assert!(
        (LIMIT..LIMIT + SECOND).contains(&start.elapsed()),
        "{:?}",
        start.elapsed()
    );

    machine.disk = Lines::default();
    assert!(
        !ends_within(
            15 * SECOND,
            &mut flow.begin().with_journal(machine.journal())
        )
        .await
    );
    machine.set_forward(60 * SECOND);
    let start = Instant::now();

    machine.run(&flow, &mut 0).await.unwrap();

    assert!(
        (25 * SECOND..26 * SECOND).contains(&start.elapsed()),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn two_journals_agree_on_the_time_while_the_clock_is_paused() {
    let flow = waiting();
    let lines = Lines::default();
    std::thread::sleep(Duration::from_millis(20)); // paused, tokio's clock shows nothing of it
    let first = lines.journal();
    advance(Duration::from_secs(60)).await;

    let first = limit(&mut flow.begin().with_journal(first)).await.unwrap();
    let mut run = flow.begin().with_journal(lines.journal());
    let second = limit(&mut run).await.unwrap();
    let apart = first.max(second).duration_since(first.min(second));
    assert!(apart.unwrap() < Duration::from_millis(10));
    assert_eq!(lines.all().len(), 3);
}
