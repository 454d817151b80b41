//! Inputs that are too large.

use super::opens::{Store, refused};
use crate::conformance::broken_promise::{BrokenPromise, Checked, equal};
use crate::conformance::flows;
use crate::conformance::trial::Case;
use crate::conformance::{Open, RefusalKind};

pub(super) async fn input(store: Store) -> Checked {
    let at = "an input above the limit";
    let limit = store.max_outcome();
    let limit = limit.ok_or_else(|| BrokenPromise::new(at, "a limit in `max_outcome`", "none"))?;
    let mut case = Case::of(&flows::A_LOOP)?;

    // Each number takes at least two bytes.
    case.attempt.input = vec![7; limit / 2 + 1];
    let opened = store.open(Open::Start, &case.attempt).await;
    refused(at, RefusalKind::TooLarge, opened)?;
    equal("the list after it", &Vec::new(), &store.list().await?)?;

    case.attempt.input = vec![7];
    drop(super::opens::open(&store, Open::Start, &case).await?);
    Ok(())
}
