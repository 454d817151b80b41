//! Which stages can be reached, and which lead to an end.

use cogwork_read::charge;

use crate::Stage;

/// Returns for each stage whether it can be reached from `from`, along the edges or against them.
pub(super) fn reached(
    stages: &[Stage],
    from: impl Iterator<Item = usize>,
    against: bool,
) -> Vec<bool> {
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); stages.len()];
    for stage in stages {
        charge(1 + stage.next.len());
        for next in &stage.next {
            let (tail, head) = if against {
                (*next, stage.index)
            } else {
                (stage.index, *next)
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
