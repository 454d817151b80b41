//! Each entry is recorded with its time.

use std::time::{Duration, SystemTime};

use cogwork_flow::journal::Entry;
use cogwork_journal::{RecordedEntry, Store};

use crate::each::{Tested, for_each_store};
use crate::work::{Calls, Work, changed, counted, flow, sealed};

for_each_store! {
    each_entry_has_the_time_at_which_it_was_recorded,
    a_range_of_entries_is_read,
    entries_of_a_damaged_record_are_refused,
    a_record_without_times_is_read_and_continued,
    times_that_go_backwards_are_harmless,
    a_changed_flow_keeps_the_times,
}

/// The clock of a database server may differ from that of this machine.
const TOLERANCE: Duration = Duration::from_secs(5);

async fn finish(store: &impl Store, run_id: &str, rounds: usize) {
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

    let entries = store.entries("a", ..).await.unwrap();
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
    let all = store.entries("a", ..).await.unwrap();
    assert_eq!(all.len(), 8);

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

    let missing = store.entries("b", ..).await.unwrap_err();
    assert!(missing.is_missing(), "{missing}");
    let empty = S::within(tempfile::tempdir().unwrap().path());
    assert!(empty.entries("a", ..).await.unwrap_err().is_missing());
}

async fn entries_of_a_damaged_record_are_refused<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    finish(&store, "a", 2).await;
    let lines = store.lines("a");
    store.rewrite("a", &lines.replacen("\"outcome\":1}", "\"outcome\":9}", 1));

    assert!(store.entries("a", ..).await.unwrap_err().is_damaged());
    assert!(store.entries("a", 1..2).await.unwrap_err().is_damaged());
    assert_eq!(store.entries("a", ..1).await.unwrap().len(), 1);
}

/// The lines with other times, or without.
fn with_times(lines: &str, time: impl Fn(usize) -> Option<u64>) -> String {
    let mut all = String::new();
    for (number, line) in lines.lines().enumerate() {
        let object = line.rsplit_once(",\"crc\"").unwrap().0;
        let object = object.split(",\"joined\":true").next().unwrap();
        let object = match object.rsplit_once(",\"at\":") {
            Some((object, _)) => object.to_owned(),
            None => object.to_owned(),
        };
        let object = match time(number) {
            Some(time) if number > 0 => format!("{object},\"at\":{time}}}"),
            _ => format!("{object}}}"),
        };

        let line = sealed(&object, all.as_bytes());
        all.push_str(&String::from_utf8(line).unwrap());
    }

    all
}

async fn a_record_without_times_is_read_and_continued<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));
    let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.step(&mut work).await.unwrap();
    drop(run);
    drop(store.resume("a", &flow).await.unwrap());
    store.rewrite("a", &with_times(&store.lines("a"), |_| None));

    let entries = store.entries("a", ..).await.unwrap();
    assert_eq!(steps(&entries), ["began", "outcome"]);
    let is_known = entries.iter().all(|recorded| recorded.at.is_some());
    assert_eq!(is_known, S::NAME == "postgres", "its table has the times");

    finish(&store, "a", 2).await;
    let entries = store.entries("a", 2..).await.unwrap();
    assert_eq!(entries.len(), 6);
    assert!(entries.iter().all(|recorded| recorded.at.is_some()));
}

async fn times_that_go_backwards_are_harmless<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    finish(&store, "a", 2).await;
    let backwards = |number: usize| Some([u64::MAX, 5, 1_000, 0][number % 4]);
    store.rewrite("a", &with_times(&store.lines("a"), backwards));

    let entries = store.entries("a", ..3).await.unwrap();
    let at = |millis| Some(SystemTime::UNIX_EPOCH + Duration::from_millis(millis));
    let times: Vec<_> = entries.iter().map(|recorded| recorded.at).collect();
    assert_eq!(times, [at(5), at(1_000), at(0)]);

    store.entries("a", ..).await.unwrap();
    store.runs().await.unwrap();
    finish(&store, "a", 2).await;
}

async fn a_changed_flow_keeps_the_times<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let call = counted(&Calls::default());
    finish(&store, "a", 2).await;
    let old = |number: usize| (number < 5).then_some(1_000 * number as u64);
    store.rewrite("a", &with_times(&store.lines("a"), old));
    let before = store.entries("a", ..).await.unwrap();

    let changed = changed(&call, "twice");
    drop(store.resume_changed("a", &changed).await.unwrap());
    let after = store.entries("a", ..).await.unwrap();
    let times = |entries: &[RecordedEntry]| -> Vec<_> {
        entries.iter().map(|recorded| recorded.at).collect()
    };
    assert_eq!(times(&before), times(&after));
}
