use std::num::NonZeroU64;

use cogwork_journal::{Fork, StoreErrorKind};

use super::{finish, finish_fork, recorded, steps};
use crate::each::{Tested, for_each_store};
use crate::work::{Calls, Work, counted, flow, undisturbed};

for_each_store! {
    the_state_can_be_edited_before_each_step,
    a_run_with_a_snapshot_is_forked_after_it,
    a_state_that_is_not_the_input_cannot_be_edited,
}

async fn the_state_can_be_edited_before_each_step<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = recorded(&store, &calls).await;
    let total = undisturbed(3).await.total;

    for step in 1..=7 {
        let fork = Fork::at(step).with_state(|work: &mut Work| work.total += 1_000);
        let journal = store.fork("a", &flow, fork).await.unwrap();

        // The edit itself makes no calls.
        assert_eq!(steps(&calls), Vec::<String>::new());
        assert_eq!(finish(&flow, journal).await.total, total + 1_000);
        let before = if step <= 4 { step - 1 } else { step + 1 };
        assert_eq!(steps(&calls).len() as u64, 9 - before);
    }
}

async fn a_run_with_a_snapshot_is_forked_after_it<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = flow(&counted(&calls));
    let every = NonZeroU64::new(2).unwrap();

    let journal = store.start("a", &flow, &Work::of(3)).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal).with_fold_every(every);
    for _ in 0..5 {
        run.step(&mut work).await.unwrap();
    }
    drop(run);

    for step in [0, 1, 4, 7, 8, u64::MAX] {
        let error = store.fork("a", &flow, Fork::at(step)).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::UnknownStep, "{error}");
    }
    let error = store.fork("a", &flow, Fork::at(4)).await.unwrap_err();
    insta::assert_snapshot!(S::told(error, folder.path()), @"STORE: the run `a` cannot be forked: step 4 was replaced by a snapshot; expected a step from 5 to 6");

    for step in [5, 6] {
        steps(&calls);
        let work = finish_fork(&store, &flow, Fork::at(step)).await.unwrap();
        assert_eq!(work, undisturbed(3).await);
        assert_eq!(steps(&calls).len() as u64, 8 - step);
    }

    let fork = Fork::at(6).with_state(|work: &mut Work| work.total += 1_000);
    let work = finish_fork(&store, &flow, fork).await.unwrap();
    assert_eq!(work.total, undisturbed(3).await.total + 1_000);
}

async fn a_state_that_is_not_the_input_cannot_be_edited<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = flow(&counted(&calls));
    let journal = store.start("a", &flow, &"three rounds").await.unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut Work::of(3)).await.unwrap();
    steps(&calls);

    let edit = |work: &mut Work| work.rounds = 4;
    let error = store.fork("a", &flow, Fork::at(3).with_state(edit)).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Value);
    insta::assert_snapshot!(S::told(error, folder.path()), @r#"STORE: the run `a` cannot be forked: its input isn't a state of the flow, so its state cannot be edited: invalid type: string "three rounds", expected struct Work at line 1 column 14"#);
}
