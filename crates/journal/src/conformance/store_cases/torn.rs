//! Writes that a crash cut off.

use super::opens::{Store, end, finish, open};
use crate::conformance::broken_promise::{BrokenPromise, Checked, equal, unexpected};
use crate::conformance::flows::{self, EVENT, Kind};
use crate::conformance::trial::Case;
use crate::conformance::{Open, Stopped};

/// How many bytes there are between two places at which a record is cut off.
const CUTS: usize = 5;

/// Cuts off the record of a run after many numbers of bytes. The more is left, the fewer calls are
/// repeated.
pub(super) async fn outcomes(store: Store) -> Checked {
    let kind = flows::A_LOOP;
    let whole = Case::of(&kind)?;
    drop(open(&store, Open::Start, &whole).await?);
    let header = store.record_size(&whole.attempt.run_id).await?;
    let stopped = finish(&store, Open::Resume, &whole).await?;
    let expected = end("the whole run", stopped)?;
    let size = store.record_size(&whole.attempt.run_id).await?;

    let mut calls = whole.world.calls().len();
    for bytes in (header..size).step_by(CUTS).chain([size]) {
        let at = format!("a record of {size} bytes that is cut off after {bytes}");
        let case = torn(&store, &kind, bytes, &at).await?;
        let before = case.world.calls().len();

        let stopped = finish(&store, Open::Resume, &case).await;
        let stopped = stopped.map_err(|refusal| BrokenPromise::from(refusal).inside(&at))?;
        equal(&at, &expected, &end(&at, stopped)?)?;
        let repeated = case.world.calls().len() - before;
        if repeated > calls {
            return unexpected(
                at,
                format_args!("at most {calls} repeated calls, as with one byte less"),
                &repeated,
            );
        }
        calls = repeated;

        // What was written after the tear can be read again.
        let replayed = finish(&store, Open::Resume, &case).await?;
        equal(&at, &expected, &end(&at, replayed)?)?;
        let replayed = case.world.calls().len() - before;
        equal(
            format_args!("{at}, calls of a replay"),
            &repeated,
            &replayed,
        )?;
        case_is_removed(&store, &case).await?;
    }

    equal("the repeated calls with a whole record", &0, &calls)
}

/// A run that has ended, whose record is cut off.
async fn torn(store: &Store, kind: &Kind, bytes: u64, at: &str) -> Result<Case, BrokenPromise> {
    let case = Case::of(kind)?;
    finish(store, Open::Start, &case).await?;
    let run_id = &case.attempt.run_id;

    let torn = store.tear(run_id, bytes).await;
    torn.map_err(|error| BrokenPromise::new(at, "a record that can be cut off", error))?;
    Ok(case)
}

async fn case_is_removed(store: &Store, case: &Case) -> Checked {
    store.remove(&case.attempt.run_id).await?;
    Ok(())
}

/// The first answer is written before the second one, and only the second one is cut off.
pub(super) async fn answers(store: Store) -> Checked {
    let define = |world: &_| flows::sums(world, 3);
    let probe = Case::new(crate::conformance::trial::unique("torn"), define, &[3])?;
    finish(&store, Open::Start, &probe).await?;
    let run_id = &probe.attempt.run_id;
    store.deliver(run_id, EVENT, "5").await?;
    let first = store.record_size(run_id).await?;
    store.deliver(run_id, EVENT, "6").await?;
    let second = store.record_size(run_id).await?;

    for bytes in (first..second).step_by(CUTS) {
        let at = format!(
            "an answer of {} bytes after {}",
            second - first,
            bytes - first
        );
        let case = Case::new(crate::conformance::trial::unique("torn"), define, &[3])?;
        let run_id = &case.attempt.run_id;
        finish(&store, Open::Start, &case).await?;
        store.deliver(run_id, EVENT, "5").await?;
        store.deliver(run_id, EVENT, "6").await?;
        let torn = store.tear(run_id, bytes).await;
        torn.map_err(|error| BrokenPromise::new(&at, "a record that can be cut off", error))?;

        let stopped = finish(&store, Open::Resume, &case).await?;
        match stopped {
            Stopped::Waiting { .. } => store.deliver(run_id, EVENT, "8").await?,
            // The whole answer was left, without the end of its line.
            Stopped::Ended { ref state, .. } if *state == [6, 5, 6] => {}
            stopped => {
                return unexpected(at, "a run that waits for the second answer", &stopped);
            }
        }

        let stopped = finish(&store, Open::Resume, &case).await?;
        let state = end(&at, stopped)?;
        equal(&at, &Some(&[6, 5][..]), &state.get(..2))?;
        case_is_removed(&store, &case).await?;
    }
    Ok(())
}
