//! Lists of runs.

use super::opens::{Store, finish, open};
use crate::conformance::broken_promise::{BrokenPromise, Checked, equal, unexpected};
use crate::conformance::engine_cases::hostile;
use crate::conformance::flows::{self, EVENT, Kind};
use crate::conformance::trial::Case;
use crate::conformance::{ListedRun, ListedStatus, Open};

fn named(run_id: &str, kind: &Kind) -> Result<Case, BrokenPromise> {
    Case::new(run_id.to_owned(), kind.define, kind.input)
}

fn waits(run_id: &str) -> Result<Case, BrokenPromise> {
    let define = |world: &_| flows::waits_once(world, EVENT);
    Case::new(run_id.to_owned(), define, &[3])
}

pub(super) async fn statuses(store: Store) -> Checked {
    equal("an empty store", &Vec::new(), &store.list().await?)?;

    finish(&store, Open::Start, &named("failed", &flows::A_FAILURE)?).await?;
    drop(open(&store, Open::Start, &named("Open", &flows::A_LOOP)?).await?);
    for run_id in ["waiting", "answered", "ended"] {
        finish(&store, Open::Start, &waits(run_id)?).await?;
    }
    store.deliver("answered", EVENT, "5").await?;
    store.deliver("ended", EVENT, "5").await?;
    finish(&store, Open::Resume, &waits("ended")?).await?;

    let listed = |run_id: &str, status| ListedRun {
        run_id: run_id.to_owned(),
        status,
    };
    let expected = vec![
        listed("Open", ListedStatus::Open),
        listed("answered", ListedStatus::Open),
        listed("ended", ListedStatus::Ended),
        listed("failed", ListedStatus::Failed),
        listed("waiting", ListedStatus::Waiting(vec![EVENT.to_owned()])),
    ];
    equal("the list", &expected, &store.list().await?)?;
    let other = store.another_process();
    equal(
        "the list of another process",
        &expected,
        &other.list().await?,
    )
}

pub(super) async fn in_use(store: Store) -> Checked {
    let case = named("a", &flows::A_LOOP)?;
    let opened = open(&store, Open::Start, &case).await?;
    let listed = store.another_process().list().await?;

    drop(opened);
    equal("the number of runs", &1, &listed.len())
}

pub(super) async fn hostile_ids(store: Store) -> Checked {
    let mut expected = Vec::new();
    for run_id in hostile() {
        let case = named(&run_id, &flows::A_LOOP)?;
        match store.open(Open::Start, &case.attempt).await {
            Ok(_) => expected.push(run_id),
            Err(refusal) if refusal.kind.may_refuse_new_runs() => {}
            Err(refusal) => {
                let at = format!("run `{run_id}`");
                return unexpected(at, "a new run, or a refusal of its id", &refusal);
            }
        }
    }

    expected.sort_unstable();
    let listed = store.list().await?;
    let listed: Vec<_> = listed.into_iter().map(|run| run.run_id).collect();
    equal("the ids in the list", &expected, &listed)
}
