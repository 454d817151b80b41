//! Events of runs: kept in order beside what is needed to continue, and in nobody's way.

use cogwork_journal::{Store, StoreErrorKind};

use crate::each::{FileStore, Tested, for_each_store};
use crate::work::{Calls, Work, counted, flow};

for_each_store! {
    events_are_read_in_order_and_in_parts,
    events_follow_those_of_earlier_processes,
    events_do_not_keep_a_run_in_use,
    a_run_that_is_removed_takes_its_events_along,
}

/// All events of a run.
pub(crate) async fn all(store: &Store, run_id: &str) -> Vec<String> {
    let mut events = Vec::new();
    let mut from = 0;
    loop {
        let part = store.events(run_id, from).await.unwrap();
        let Some(last) = part.last() else {
            return events;
        };
        from = last.next;
        events.extend(part.into_iter().map(|event| event.json));
    }
}

fn numbered(number: usize, length: usize) -> String {
    serde_json::json!({ "number": number, "text": "\u{0}é".repeat(length) }).to_string()
}

async fn events_are_read_in_order_and_in_parts<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));
    let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();
    assert_eq!(store.events("a", 0).await.unwrap(), []);

    let events = journal.events();
    // The second is longer than what is read at once.
    let pushed: Vec<_> = (0..1_500)
        .map(|number| numbered(number, if number == 1 { 400_000 } else { 100 }))
        .collect();
    for event in &pushed {
        assert!(events.push(event.clone()));
    }
    events.written().await.unwrap();

    assert_eq!(all(&store, "a").await, pushed);
    let part = store.events("a", 0).await.unwrap();
    assert!(part.len() < pushed.len());
    let second = store.events("a", part[0].next).await.unwrap();
    assert_eq!(second[0].json, pushed[1]);

    let error = store.events("b", 0).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Missing, "{error}");
}

async fn events_follow_those_of_earlier_processes<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));

    for number in 0..3 {
        let input = Work::of(2);
        let journal = store.start_or_resume("a", &flow, &input).await.unwrap();
        let mut work: Work = journal.state().unwrap();
        let events = journal.events();
        assert!(events.push(numbered(2 * number, 1)));

        let mut run = flow
            .begin()
            .with_journal(journal)
            .with_fold_every(2.try_into().unwrap());
        run.finish(&mut work).await.unwrap();
        events.written().await.unwrap();
    }

    let expected: Vec<_> = (0..3).map(|number| numbered(2 * number, 1)).collect();
    assert_eq!(all(&store, "a").await, expected);
}

async fn events_do_not_keep_a_run_in_use<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));
    let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();

    let events = journal.events();
    assert_eq!(events.run_id(), "a");
    assert!(events.push(numbered(0, 1)));
    drop(journal);

    // What was accepted is written all the same.
    events.written().await.unwrap();
    assert!(!events.push(numbered(1, 1)));
    drop(store.resume("a", &flow).await.unwrap());
    assert_eq!(all(&store, "a").await, [numbered(0, 1)]);
}

async fn a_run_that_is_removed_takes_its_events_along<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));

    for _ in 0..2 {
        let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();
        assert_eq!(all(&store, "a").await, Vec::<String>::new());
        let events = journal.events();
        assert!(events.push(numbered(0, 1)));
        events.written().await.unwrap();
        drop(journal);
        store.remove("a").await.unwrap();
    }
}

#[tokio::test]
async fn events_that_cannot_be_written_do_not_fail_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::within(folder.path());
    let flow = flow(&counted(&Calls::default()));
    let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let events = journal.events();

    std::fs::create_dir(folder.path().join("a.events")).unwrap();
    assert!(events.push(numbered(0, 1)));
    let error = events.written().await.unwrap_err();
    assert!(error.to_string().contains("a.events"), "{error}");
    assert!(!events.push(numbered(1, 1)));

    flow.begin()
        .with_journal(journal)
        .finish(&mut work)
        .await
        .unwrap();
}

#[tokio::test]
async fn an_incomplete_event_of_a_crash_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::within(folder.path());
    let flow = flow(&counted(&Calls::default()));
    drop(store.start("a", &flow, &Work::of(2)).await.unwrap());
    std::fs::write(folder.path().join("a.events"), "{}\n{\"typ").unwrap();
    assert_eq!(all(&store, "a").await, ["{}"]);

    let journal = store.resume("a", &flow).await.unwrap();
    let events = journal.events();
    assert!(events.push(numbered(0, 1)));
    events.written().await.unwrap();
    assert_eq!(all(&store, "a").await, ["{}", "{\"typ", &numbered(0, 1)]);
}
