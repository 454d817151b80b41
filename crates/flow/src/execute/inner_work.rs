//! The works inside a visit: items and branches.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::task::yield_now;

use super::context::Here;
use super::cursor::Cursor;
use super::failure::Failure;
use super::walk::{BETWEEN_YIELDS, Distance, Walk};
use crate::Flow;
use crate::engine::{Level, Part};

/// Runs a flow inside a visit until it ends.
pub(crate) async fn finish<S>(
    here: Here<'_>,
    flow: &Flow<S>,
    part: Part,
    state: &mut S,
) -> Result<(), Failure> {
    // Most runs have no names, and make no path.
    let around = here.step.map_or_else(Vec::new, |step| {
        let level = Level {
            name: step.name.node.clone(),
            part: Some((step.name.number, part.clone())),
        };
        step.name.within.iter().cloned().chain([level]).collect()
    });
    let mut cursor = Cursor::at_start(&flow.wiring);
    let walk = Walk {
        context: here.context,
        flow,
        cursor: &mut cursor,
        around: Some(&around),
        state,
        distance: Distance::ToTheEnd,
    };

    match walk.run().await {
        Ok(_) => Ok(()),
        Err(error) => {
            let label = part.label();
            Err(Failure::Inside { label, error })
        }
    }
}

/// Does up to `at_most` works at a time, and returns their outcomes in the order of the works.
///
/// An error stops the others. After a pause, the others run until they end or pause, and the
/// returned failure contains all waits. If calls must come in order, there is one at a time, and a
/// pause stops the others too: they would make calls while the paused one waits, and in a replay
/// these would come after its own.
pub(crate) async fn all_of<T>(
    here: Here<'_>,
    at_most: usize,
    works: Vec<impl Future<Output = Result<T, Failure>>>,
) -> Result<Vec<T>, Failure> {
    // Such a journal finds calls by their position, which must be the same in each replay.
    let in_order = here.in_order();
    let at_most = if in_order { 1 } else { at_most };
    let mut works = works.into_iter().enumerate();

    // Unordered, so that the first error is seen immediately and stops the others.
    let mut begun: FuturesUnordered<_> = works.by_ref().take(at_most).map(numbered).collect();
    let mut done = Vec::new();
    let mut pauses = Vec::new();

    while let Some((index, outcome)) = begun.next().await {
        // In any case, because a pause doesn't keep the others from beginning.
        begun.extend(works.next().map(numbered));

        match outcome {
            Ok(outcome) => done.push((index, outcome)),
            Err(mut failure) => match failure.paused_mut() {
                Some(_) if !in_order => pauses.push((index, failure)),
                // Dropping the others stops them at their current `await`.
                _ => return Err(failure),
            },
        }
    }

    if let Some(pause) = joined(pauses) {
        return Err(pause);
    }

    // `join` gets the outcomes in the order of the items, whichever was faster.
    done.sort_unstable_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, outcome)| outcome).collect())
}

async fn numbered<F: Future>((index, work): (usize, F)) -> (usize, F::Output) {
    // Items that never wait would otherwise all be done within one poll.
    if (index as u64 + 1).is_multiple_of(BETWEEN_YIELDS) {
        yield_now().await;
    }

    (index, work.await)
}

/// Returns the first of the pauses, with the waits of the others.
fn joined(mut pauses: Vec<(usize, Failure)>) -> Option<Failure> {
    pauses.sort_unstable_by_key(|(index, _)| *index);
    let mut pauses = pauses.into_iter().map(|(_, pause)| pause);

    let mut first = pauses.next()?;
    let others: Vec<_> = pauses.filter_map(Failure::into_paused).collect();
    if let Some(paused) = first.paused_mut() {
        paused.join(others);
    }

    Some(first)
}
