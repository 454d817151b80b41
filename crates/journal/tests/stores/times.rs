//! Each entry is recorded with its time.

use std::time::{Duration, SystemTime};

use cogwork_flow::engine::Entry;
use cogwork_journal::{RecordedEntry, Store, StoreErrorKind};

use crate::each::{Tested, for_each_store};
use crate::work::{Calls, Work, counted, flow};

for_each_store! {
    each_entry_has_the_time_at_which_it_was_recorded,
    a_range_of_entries_is_read,
    entries_of_a_damaged_record_are_refused,
}

/// The clock of a database server may differ from that of this machine.
const TOLERANCE: Duration = Duration::from_secs(5);

async fn finish(store: &Store, run_id: &str, rounds: usize) {
    let flow = flow(&counted(&Calls::default()));
    let input = Work::of(rounds);
    let journal = store.start_or_resume(run_id, &flow, &input).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut work).await.unwrap();
}

fn steps(entries: &[RecordedEntry]) -> Vec<&str> {
    let step = |recorded: &'_ RecordedEntry| match &recorded.entry {
        Entry::Outcome { .. } => "outcome",
        Entry::Began { .. } => "began",
        Entry::Ended { .. } => "ended",
        _ => "other",
    };
    entries.iter().map(step).collect()
}

async fn each_entry_has_the_time_at_which_it_was_recorded<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let before = SystemTime::now() - TOLERANCE;
    finish(&store, "a", 1).await;
    let after = SystemTime::now() + TOLERANCE;

    let entries = store.entries("a", 0..u64::MAX).await.unwrap();
    assert_eq!(
        steps(&entries),
        ["began", "outcome", "outcome", "outcome", "ended"]
    );
    for (index, recorded) in (0..).zip(&entries) {
        let at = recorded.at.unwrap();
        assert!(before < at && at < after, "{at:?}");
        assert_eq!(recorded.index, index);
    }

    let last = entries.last().and_then(|recorded| recorded.at);
    assert_eq!(store.runs().await.unwrap()[0].updated, last);

    drop(
        store
            .start("b", &flow(&counted(&Calls::default())), &Work::of(1))
            .await,
    );
    let runs = store.runs().await.unwrap();
    let updated = runs[1].updated.unwrap();
    let apart = updated.duration_since(runs[1].started);
    assert!(
        apart.unwrap_or_default() < TOLERANCE,
        "a new run is as old as its header"
    );
}

async fn a_range_of_entries_is_read<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    finish(&store, "a", 2).await;
    let all = store.entries("a", 0..u64::MAX).await.unwrap();
    assert_eq!(all.len(), 8);

    let none = store.entries("a", u64::MAX..u64::MAX).await.unwrap();
    assert!(none.is_empty(), "{none:?}");
    for start in 0..10_u64 {
        for end in 0..10_u64 {
            let part = store.entries("a", start..end).await.unwrap();
            let indexes: Vec<_> = part.iter().map(|recorded| recorded.index).collect();
            let expected: Vec<_> = (start..end.min(8)).collect();
            assert_eq!(indexes, expected, "{start}..{end}");
            for recorded in part {
                let index = usize::try_from(recorded.index).unwrap();
                assert_eq!(recorded.at, all[index].at);
                assert_eq!(
                    format!("{:?}", recorded.entry),
                    format!("{:?}", all[index].entry)
                );
            }
        }
    }

    let missing = store.entries("b", 0..u64::MAX).await.unwrap_err();
    assert_eq!(missing.kind(), StoreErrorKind::Missing, "{missing}");
    let empty = S::within(tempfile::tempdir().unwrap().path());
    assert_eq!(
        empty.entries("a", 0..u64::MAX).await.unwrap_err().kind(),
        StoreErrorKind::Missing
    );
}

async fn entries_of_a_damaged_record_are_refused<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    finish(&store, "a", 2).await;
    let lines = store.lines("a");
    store.rewrite("a", &lines.replacen("\"outcome\":1}", "\"outcome\":}", 1));

    assert_eq!(
        store.entries("a", 0..u64::MAX).await.unwrap_err().kind(),
        StoreErrorKind::Damaged
    );
    assert_eq!(
        store.entries("a", 1..2).await.unwrap_err().kind(),
        StoreErrorKind::Damaged
    );
    assert_eq!(store.entries("a", 0..1).await.unwrap().len(), 1);
}
