//! Which places of a graph can be reached from others.

use std::mem;

/// Returns for each index whether it can be reached from one of `from`. `next` contains the
/// indices that follow each index.
pub(crate) fn reached(from: impl IntoIterator<Item = usize>, next: &[Vec<usize>]) -> Vec<bool> {
    let mut reached = vec![false; next.len()];
    let mut open: Vec<usize> = from.into_iter().collect();

    while let Some(index) = open.pop() {
        let Some(was_reached) = reached.get_mut(index) else {
            continue;
        };

        if !mem::replace(was_reached, true) {
            open.extend(next.get(index).into_iter().flatten());
        }
    }

    reached
}
