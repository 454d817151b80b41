use cogwork_journal::{Fork, StoreError, StoreErrorKind};

use super::{finish, recorded};
use crate::each::{FileStore, Tested, for_each_store};
use crate::work::{Calls, Work, changed, counted, greeting};

for_each_store! {
    a_step_that_is_not_on_record_is_refused,
    a_different_flow_is_refused_and_a_changed_one_on_request,
    an_outcome_that_is_not_on_record_is_refused,
    a_value_that_is_not_json_is_refused,
}

/// Checks that a fork is refused and leaves no run. Returns the error in one line.
async fn refused<S: Tested>(
    store: &S,
    folder: &std::path::Path,
    forked: Result<cogwork_journal::RunJournal, StoreError>,
    kind: StoreErrorKind,
) -> String {
    let error = forked.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert_eq!(store.runs().await.unwrap().len(), 1);
    S::told(error, folder)
}

async fn a_step_that_is_not_on_record_is_refused<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = recorded(&store, &Calls::default()).await;

    for step in [0, 9, 40, u64::MAX] {
        let forked = store.fork("a", &flow, Fork::at(step)).await;
        let error = refused(&store, folder.path(), forked, StoreErrorKind::UnknownStep).await;
        if step == 40 {
            insta::assert_snapshot!(error, @"STORE: the run `a` cannot be forked: step 40 isn't on record; expected a step from 1 to 8");
        }
    }
}

async fn a_different_flow_is_refused_and_a_changed_one_on_request<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    drop(recorded(&store, &calls).await);

    for changes in [false, true] {
        let fork = Fork::at(1).with_changed_flow(changes);
        let forked = store.fork("a", &greeting(), fork).await;
        refused(&store, folder.path(), forked, StoreErrorKind::AnotherFlow).await;
    }

    let new = changed(&counted(&calls), "twice");
    let forked = store.fork("a", &new, Fork::at(4)).await;
    let error = refused(&store, folder.path(), forked, StoreErrorKind::AnotherFlow).await;
    insta::assert_snapshot!(error, @"STORE, line 1: the flow `work` has changed since the run began: gone: the batch `double`, the edge from `double` on `default` to `adding`, the edge from `gather` on `enough` to `double`; new: the edge from `gather` on `enough` to `twice`, the batch `twice`, the edge from `twice` on `default` to `adding`; to continue with the changed flow, fork the run, and accept the change");

    let fork = Fork::at(4).with_changed_flow(true).with_run_id("b");
    drop(store.fork("a", &new, fork).await.unwrap());
    let journal = store.resume("b", &new).await.unwrap();
    finish(&new, journal).await;
    assert_eq!(super::steps(&calls).len(), 6);

    // The change is before the fork.
    let fork = Fork::at(5).with_changed_flow(true).with_run_id("c");
    let journal = store.fork("a", &new, fork).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = new.begin().with_journal(journal);
    let error = run.finish(&mut work).await.unwrap_err();
    assert!(error.is_journal(), "{error}");
    for named in [
        "`work/twice#4`",
        "`work/double#4`",
        "fork the run at step 4",
    ] {
        assert!(error.to_string().contains(named), "{error}");
    }
    assert_eq!(super::steps(&calls), Vec::<String>::new());
}

async fn an_outcome_that_is_not_on_record_is_refused<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = recorded(&store, &Calls::default()).await;

    let forks = [
        Fork::at(4).with_outcome(&1),
        Fork::at(8).with_outcome(&1),
        Fork::at(4).with_outcome_of("work/double#4[3]", &1),
        Fork::at(3).with_outcome_of("work/gather#2", &1),
        Fork::at_end().with_outcome(&1),
    ];
    let mut errors = Vec::new();
    for fork in forks {
        let forked = store.fork("a", &flow, fork).await;
        errors.push(refused(&store, folder.path(), forked, StoreErrorKind::UnknownStep).await);
    }
    insta::assert_snapshot!(errors.join("\n"), @r"
    STORE: the run `a` cannot be forked: step 4 has several outcomes; expected a new one of `work/double#4[0]`, `work/double#4[1]` or `work/double#4[2]`
    STORE: the run `a` cannot be forked: no outcome of step 8 is on record
    STORE: the run `a` cannot be forked: step 4 has no outcome of `work/double#4[3]`; expected `work/double#4[0]`, `work/double#4[1]` or `work/double#4[2]`
    STORE: the run `a` cannot be forked: step 3 has no outcome of `work/gather#2`; expected `work/gather#3`
    STORE: the run `a` cannot be forked: there is no outcome to edit at the end; expected a step
    ");
}

async fn a_value_that_is_not_json_is_refused<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = recorded(&store, &Calls::default()).await;
    let keys = std::collections::HashMap::from([((1, 2), 3)]);

    let fork = Fork::at(2).with_outcome(&keys);
    let forked = store.fork("a", &flow, fork).await;
    let error = refused(&store, folder.path(), forked, StoreErrorKind::Value).await;
    insta::assert_snapshot!(error, @"STORE: the run `a` cannot be forked: the new outcome of `work/gather#2`: the outcome cannot be read back unchanged: key must be a string");

    // A value of a different type is found when the run uses it, as with a delivered answer.
    let fork = Fork::at(2).with_outcome(&"a text");
    let journal = store.fork("a", &flow, fork).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    let error = run.finish(&mut work).await.unwrap_err();
    assert!(error.is_journal(), "{error}");
}

#[tokio::test]
async fn a_torn_record_is_forked_without_the_torn_line_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let calls = Calls::default();
    let flow = recorded(&store, &calls).await;
    let whole = store.lines("a");
    let end = whole.rfind("{\"outcome\"").unwrap();
    let torn = &whole[..end + 40];
    std::fs::write(store.path("a"), torn).unwrap();

    let journal = store.fork("a", &flow, Fork::at_end()).await.unwrap();
    finish(&flow, journal).await;
    assert_eq!(super::steps(&calls), ["work/adding/add#7"]);
    assert_eq!(store.lines("a"), torn);

    // Nothing is left but the header.
    let header = whole.split_inclusive('\n').next().unwrap();
    std::fs::write(store.path("a"), header).unwrap();
    let error = store.fork("a", &flow, Fork::at(2)).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::UnknownStep, "{error}");

    std::fs::write(store.path("a"), &header[..40]).unwrap();
    let error = store.fork("a", &flow, Fork::at(1)).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Damaged, "{error}");
}
