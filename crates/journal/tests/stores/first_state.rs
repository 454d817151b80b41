//! A run is resumed only with the state with which it began, also where that isn't its input.

use std::collections::HashSet;
use std::num::NonZeroU64;

use cogwork_flow::{BoxError, Flow, RunError, from_phases};
use cogwork_journal::{Store, StoreError};
use serde::{Deserialize, Serialize};

use crate::each::{Tested, for_each_store};
use crate::work::{Calls, Work, counted, flow};

for_each_store! {
    the_error_says_where_the_state_differs_from_the_input,
    the_error_says_where_the_state_differs_from_the_snapshot,
    a_set_in_a_state_from_the_record_may_be_in_any_order,
}

async fn resumed(store: &Store, flow: &Flow<Work>, mut work: Work) -> Result<Work, RunError> {
    let journal = store.resume("a", flow).await.unwrap();
    flow.begin()
        .with_journal(journal)
        .finish(&mut work)
        .await
        .map(|_| work)
}

/// Takes two steps of a run.
async fn begin(store: &Store, flow: &Flow<Work>, folds: bool) {
    let journal = store.start("a", flow, &Work::of(3)).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    if folds {
        run = run.with_fold_every(NonZeroU64::MIN);
    }

    for _ in 0..2 {
        run.step(&mut work).await.unwrap();
    }
}

fn store_error(error: &RunError) -> &StoreError {
    error.downcast_ref().unwrap()
}

async fn the_error_says_where_the_state_differs_from_the_input<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));
    begin(&store, &flow, false).await;

    let error = resumed(&store, &flow, Work::of(4)).await.unwrap_err();
    insta::assert_snapshot!(S::told(&error, folder.path()), @"flow `work`, node `gather`: STORE: the run `a` of the flow `work` began with a different state (it differs at `/rounds`); resume it with the state that `RunJournal::state` returns, or start a run with a different id");
}

async fn the_error_says_where_the_state_differs_from_the_snapshot<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow(&counted(&Calls::default()));
    begin(&store, &flow, true).await;

    let error = resumed(&store, &flow, Work::of(3)).await.unwrap_err();
    let told = S::told(store_error(&error), folder.path());
    assert!(told.contains("(it differs at `/numbers/0`)"), "{told}");

    let journal = store.resume("a", &flow).await.unwrap();
    let work: Work = journal.state().unwrap();
    drop(journal);
    resumed(&store, &flow, work).await.unwrap();
}

#[derive(Serialize, Deserialize)]
struct Tagged {
    tags: HashSet<u32>,
    count: u32,
}

fn tagging() -> Flow<Tagged> {
    let step = from_phases(
        |_: &mut Tagged| (),
        |()| async { Ok::<_, BoxError>(()) },
        |_: &mut Tagged, ()| (),
    );

    Flow::builder("tagging")
        .start("tag")
        .node("tag", step)
        .end("tag", "default")
        .build()
        .unwrap()
}

async fn a_set_in_a_state_from_the_record_may_be_in_any_order<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = tagging();
    let input = Tagged {
        tags: (0..20).collect(),
        count: 0,
    };
    drop(store.start("a", &flow, &input).await.unwrap());

    for _ in 0..3 {
        let journal = store.resume("a", &flow).await.unwrap();
        let mut state: Tagged = journal.state().unwrap();
        flow.begin()
            .with_journal(journal)
            .finish(&mut state)
            .await
            .unwrap();
    }
}
