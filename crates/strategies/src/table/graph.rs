//! Which stages can be reached, and which lead to an end.

use crate::Stage;

/// The direction in which edges are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forwards,
    Backwards,
}

/// Returns for each stage whether it can be reached from one of the stages `from`.
pub(super) fn reached(
    stages: &[Stage],
    from: impl Iterator<Item = usize>,
    direction: Direction,
) -> Vec<bool> {
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); stages.len()];
    for stage in stages {
        for next in &stage.next {
            let [tail, head] = match direction {
                Direction::Forwards => [stage.index, *next],
                Direction::Backwards => [*next, stage.index],
            };
            if let Some(list) = edges.get_mut(tail) {
                list.push(head);
            }
        }
    }

    let mut seen = vec![false; stages.len()];
    let mut open: Vec<usize> = from.collect();
    while let Some(stage) = open.pop() {
        match seen.get_mut(stage) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        open.extend(edges.get(stage).into_iter().flatten());
    }

    seen
}
