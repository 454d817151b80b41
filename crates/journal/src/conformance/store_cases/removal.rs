//! Removed runs.

use super::opens::{Store, ends_with, finish, refused};
use crate::conformance::broken_promise::{BrokenPromise, Checked, equal, unexpected};
use crate::conformance::flows::{self, EVENT};
use crate::conformance::trial::Case;
use crate::conformance::{Open, RefusalKind};

fn waits(run_id: &str) -> Result<Case, BrokenPromise> {
    let define = |world: &_| flows::waits_once(world, EVENT);
    Case::new(run_id.to_owned(), define, &[3])
}

pub(super) async fn leaves_nothing(store: Store) -> Checked {
    let case = waits("a")?;
    finish(&store, Open::Start, &case).await?;
    store.deliver("a", EVENT, "5").await?;
    store.remove("a").await?;

    equal("the list", &Vec::new(), &store.list().await?)?;
    let resumed = store.open(Open::Resume, &case.attempt).await;
    refused("the removed run", RefusalKind::Missing, resumed)?;

    // Neither outcomes nor answers of the old run are used.
    let at = "a new run with the same id";
    let again = waits("a")?;
    let stopped = finish(&store, Open::Start, &again).await?;
    if !matches!(stopped, crate::conformance::Stopped::Waiting { .. }) {
        return unexpected(at, "a wait", &stopped);
    }
    equal(at, &1, &again.world.calls().len())
}

pub(super) async fn others_stay(store: Store) -> Checked {
    let others = ["A", "a ", "a.", "aa", "b", "a%"];
    for run_id in others.iter().chain(&["a"]) {
        finish(&store, Open::Start, &waits(run_id)?).await?;
        store.deliver(run_id, EVENT, "5").await?;
    }
    store.remove("a").await?;

    for run_id in others {
        let case = waits(run_id)?;
        ends_with(run_id, &store, Open::Resume, &case, &[12, 5]).await?;
        equal(run_id, &1, &case.world.calls().len())?;
    }
    equal(
        "the number of runs",
        &others.len(),
        &store.list().await?.len(),
    )
}

pub(super) async fn missing(store: Store) -> Checked {
    let removed = store.remove("a").await;
    refused("an empty store", RefusalKind::Missing, removed)?;

    finish(&store, Open::Start, &waits("b")?).await?;
    let removed = store.remove("a").await;
    refused("a store with another run", RefusalKind::Missing, removed)?;
    store.remove("b").await?;
    refused(
        "a second removal",
        RefusalKind::Missing,
        store.remove("b").await,
    )
}
