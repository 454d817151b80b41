//! A clock that was set back while a run was not at work.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cogwork_flow::{Action, Flow, Wait};
use cogwork_journal::{RunStatus, Store};

use crate::each::FileStore;
use crate::work::sealed;

const LIMIT: Duration = Duration::from_secs(100);

fn waiting() -> Flow<u32> {
    Flow::builder("ask")
        .start("ask")
        .wait(
            "ask",
            Wait::for_event("word", |_: &mut u32, (): ()| ()).with_timeout(LIMIT),
        )
        .end("ask", Action::DEFAULT)
        .end("ask", Action::TIMED_OUT)
        .build()
        .unwrap()
}

/// When the wait of the only run ends, as the store lists it.
async fn listed(store: &Store) -> SystemTime {
    let runs = store.runs().await.unwrap();
    let RunStatus::Paused { waits } = &runs[0].status else {
        unreachable!("{runs:?}")
    };

    assert_eq!(waits.len(), 1);
    waits[0].until.unwrap()
}

/// Takes the run up; answers until when it waits.
async fn goes_on(store: &Store) -> SystemTime {
    let flow = waiting();
    let journal = store.resume("a", &flow).await.unwrap();
    let mut run = flow.begin().with_journal(journal);
    let stopped = run.finish(&mut 0).await.unwrap_err();
    stopped.into_paused().unwrap().until.unwrap()
}

/// The record of a run that began when the clock showed a later time than it does now.
fn written_later(lines: &str, by: Duration) -> String {
    let line = lines.lines().nth(2).unwrap();
    let until: u64 = line
        .split("\"until\":")
        .nth(1)
        .unwrap()
        .split('}')
        .next()
        .unwrap()
        .parse()
        .unwrap();

    let later = until + u64::try_from(by.as_millis()).unwrap();
    let before: String = lines.split_inclusive('\n').take(2).collect();
    let json = line
        .get(9..)
        .unwrap()
        .replace(&until.to_string(), &later.to_string());

    format!("{before}{}", String::from_utf8(sealed(&json)).unwrap())
}

#[tokio::test]
async fn a_wait_ends_no_later_for_it_and_is_listed_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let flow = waiting();
    let journal = store.start("a", &flow, &0).await.unwrap();

    flow.begin()
        .with_journal(journal)
        .finish(&mut 0)
        .await
        .unwrap_err();

    let year = Duration::from_secs(365 * 86_400);
    let path = store.path("a");
    let lines = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, written_later(&lines, year)).unwrap();

    let until = goes_on(&store).await;
    assert!(
        until <= SystemTime::now() + LIMIT,
        "{:?}",
        until.duration_since(UNIX_EPOCH)
    );

    assert_eq!(listed(&store).await, until);
    assert_eq!(goes_on(&store).await, until, "and no later the next time");
    let lines = std::fs::read_to_string(&path).unwrap();
    assert_eq!(lines.lines().count(), 4, "{lines}");
}
