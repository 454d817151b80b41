use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use cogwork_flow::{Action, Flow, from_exec_with, from_fn};

use crate::each::{FileStore, Tested, for_each_store};
use crate::work::{Calls, Work, changed, counted, flow, greeting, undisturbed};
use cogwork_journal::{RunStatus, StoreErrorKind};

for_each_store! {
    a_run_that_is_not_there_is_no_run,
    a_changed_flow_is_refused_or_accepted_and_then_on_record,
    a_longer_flow_continues_after_the_end,
    a_run_that_failed_is_open_again_while_it_is_resumed,
    an_input_that_is_none_of_the_type_asked_for_is_said,
}

async fn a_run_that_is_not_there_is_no_run<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(&folder.path().join("runs"));
    let flow = flow(&counted(&Calls::default()));
    let error = store.resume("a", &flow).await.unwrap_err();

    assert_eq!(error.kind(), StoreErrorKind::Missing);
    insta::assert_snapshot!(S::told(error, &folder.path().join("runs")), @"there is no run `a`: it would be in STORE");
    assert_eq!(
        store.resume_changed("a", &flow).await.unwrap_err().kind(),
        StoreErrorKind::Missing
    );

    assert_eq!(
        store.deliver("a", "name", &1).await.unwrap_err().kind(),
        StoreErrorKind::Missing
    );

    assert!(!folder.path().join("runs").exists());
}

async fn a_changed_flow_is_refused_or_accepted_and_then_on_record<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let old = flow(&counted(&calls));
    let new = changed(&counted(&calls), "twice");
    let journal = store.start("a", &old, &Work::of(3)).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = old.begin().with_journal(journal);

    run.step(&mut work).await.unwrap();
    run.step(&mut work).await.unwrap();
    drop(run);
    let before = store.lines("a");

    let error = store.resume("a", &new).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::AnotherFlow);
    insta::assert_snapshot!(S::told(error, folder.path()), @"STORE, line 1: the flow `work` has changed since the run began: gone: the batch `double`, the edge from `double` on `default` to `adding`, the edge from `gather` on `enough` to `double`; new: the edge from `gather` on `enough` to `twice`, the batch `twice`, the edge from `twice` on `default` to `adding`; to continue with the changed flow, fork the run, and accept the change");
    assert_eq!(store.lines("a"), before);

    drop(store.resume_changed("a", &new).await.unwrap());
    assert_eq!(
        store.resume("a", &old).await.unwrap_err().kind(),
        StoreErrorKind::AnotherFlow
    );
    let journal = store.resume("a", &new).await.unwrap();
    let mut work: Work = journal.state().unwrap();

    new.begin()
        .with_journal(journal)
        .finish(&mut work)
        .await
        .unwrap();

    assert_eq!(work, undisturbed(3).await);
    assert_eq!(
        calls.lock().unwrap().len(),
        9,
        "what the old flow had recorded is not done again"
    );

    let error = store.resume_changed("a", &greeting()).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::AnotherFlow);
    insta::assert_snapshot!(S::told(error, folder.path()), @"STORE, line 1: the run `a` belongs to the flow `work`, not to `greeting`");
}

async fn a_longer_flow_continues_after_the_end<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let adds = || from_fn(|n: &mut u32| *n += 1);
    let short = Flow::builder("adds").node("one", adds()).chain(["one"]);
    let short = short.build().unwrap();
    let longer = Flow::builder("adds")
        .node("one", adds())
        .node("two", adds())
        .chain(["one", "two"])
        .build()
        .unwrap();

    let journal = store.start("a", &short, &0).await.unwrap();
    short
        .begin()
        .with_journal(journal)
        .finish(&mut 0)
        .await
        .unwrap();

    for is_changed in [true, false] {
        let journal = match is_changed {
            true => store.resume_changed("a", &longer).await.unwrap(),
            false => store.resume("a", &longer).await.unwrap(),
        };
        let mut n = journal.state().unwrap();
        longer
            .begin()
            .with_journal(journal)
            .finish(&mut n)
            .await
            .unwrap();
        assert_eq!(n, 2);
    }
}

async fn an_input_that_is_none_of_the_type_asked_for_is_said<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));
    let journal = store.start("a", &flow, &"text").await.unwrap();
    let error = journal.state::<Work>().unwrap_err();

    assert_eq!(error.kind(), StoreErrorKind::Value);
    insta::assert_snapshot!(S::told(error, folder.path()), @r#"STORE: the input of the run `a` cannot be read: invalid type: string "text", expected struct Work at line 1 column 6"#);
    let unwritable = std::collections::HashMap::from([((1, 2), 3)]);
    let error = store.start("b", &flow, &unwritable).await.unwrap_err();

    assert_eq!(error.kind(), StoreErrorKind::Value);
    insta::assert_snapshot!(error, @"the input of the run `b` cannot be written as JSON: key must be a string");
    let error = store.deliver("a", "name", &unwritable).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Value);
    insta::assert_snapshot!(error, @"the answer to `name` cannot be written as JSON: key must be a string");
}

#[test]
fn neither_states_nor_inputs_need_be_shared_between_threads() {
    fn is_send(_: &impl Send) {}

    let flow: Flow<Cell<u32>> = Flow::builder("f")
        .start("n")
        .node("n", from_fn(|_: &mut Cell<u32>| ()))
        .end("n", Action::DEFAULT)
        .build()
        .unwrap();

    let store = FileStore::new("none");
    is_send(&store.start("a", &flow, &Cell::new(1)));
    is_send(&store.resume("a", &flow));
    is_send(&store.deliver("a", "event", &Cell::new(1)));
}

async fn a_run_that_failed_is_open_again_while_it_is_resumed<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let attempts = Arc::new(AtomicU32::new(0));
    // The second attempt looks at its own run.
    let look = from_exec_with(
        (store.clone(), attempts),
        |(store, attempts), ()| async move {
            let status = store.runs().await.unwrap()[0].status.clone();
            if attempts.fetch_add(1, Relaxed) == 0 {
                return Err(std::io::Error::other("no luck"));
            }
            assert_eq!(status, RunStatus::Open { waits: vec![] });
            Ok(())
        },
    );
    let flow = Flow::from_node("look", look).unwrap();

    let journal = store.start("a", &flow, &()).await.unwrap();
    let failed = flow.begin().with_journal(journal).finish(&mut ()).await;
    assert!(failed.is_err());
    let status = store.runs().await.unwrap()[0].status.name();
    assert_eq!(status, "failed");

    let journal = store.resume("a", &flow).await.unwrap();
    let resumed = flow.begin().with_journal(journal).finish(&mut ()).await;
    resumed.unwrap();
}
