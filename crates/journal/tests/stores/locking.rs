use crate::child::{Job, wait_until_it_runs};
use crate::each::{Tested, for_each_store_on_disk};
use crate::work::{Calls, Work, counted, flow, undisturbed};
use cogwork_journal::StoreErrorKind;

for_each_store_on_disk! {
    a_second_process_is_told_who_has_the_run_and_gets_it_when_that_is_gone,
}

async fn a_second_process_is_told_who_has_the_run_and_gets_it_when_that_is_gone<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let job = Job {
        store: S::NAME,
        folder: folder.path().into(),
        run_id: "a".into(),
        rounds: 3,
        slow: 60_000,
    };

    let mut child = job.command().spawn().unwrap();
    wait_until_it_runs(&mut child);
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));

    let error = store.resume("a", &flow).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::InUse);
    let line = S::told(error, folder.path()).replace(&child.id().to_string(), "PID");
    insta::assert_snapshot!(line, @"the run `a` is in use by the process PID; it can be opened once it has stopped there");

    let error = store.deliver("a", "word", &1).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::InUse);
    let answered = "the run cannot be answered now: the run `a` is in use by the process";
    assert!(error.to_string().starts_with(answered), "{error}");

    child.kill().unwrap();
    child.wait().unwrap();
    let journal = store.resume("a", &flow).await.unwrap();
    let mut work: Work = journal.state().unwrap();

    flow.begin()
        .with_journal(journal)
        .finish(&mut work)
        .await
        .unwrap();

    assert_eq!(work, undisturbed(3).await);
}
