//! Which steps of two lists are the same; the rule stands at `Plan::changes_since`.

use std::collections::{HashMap, VecDeque};

use crate::Step;

/// What became of one step. Positions count from 0 in the list the step is in.
pub(crate) enum Pair<'a> {
    Kept {
        old: (usize, &'a Step),
        new: (usize, &'a Step),
        moved: bool,
    },
    Added(usize, &'a Step),
    Removed(usize, &'a Step),
}

/// A step of the new list that stands between two matched neighbours.
struct Waiting<'a> {
    new: (usize, &'a Step),
    moved_from: Option<(usize, &'a Step)>,
}

/// The pairs in the order of the new list, a removed step before the neighbour that followed it.
pub(crate) fn pair<'a>(old: &'a [Step], new: &'a [Step]) -> Vec<Pair<'a>> {
    let mut by_description: HashMap<&str, VecDeque<(usize, &Step)>> = HashMap::new();
    for (position, step) in old.iter().enumerate() {
        by_description
            .entry(&step.description)
            .or_default()
            .push_back((position, step));
    }

    let matches: Vec<Option<(usize, &Step)>> = new
        .iter()
        .map(|step| {
            by_description
                .get_mut(step.description.as_str())
                .and_then(VecDeque::pop_front)
        })
        .collect();

    let mut unmatched: Vec<(usize, &Step)> = by_description.into_values().flatten().collect();
    unmatched.sort_unstable_by_key(|(position, _)| *position);
    let mut unmatched = unmatched.into_iter().peekable();

    let mut pairs = Vec::with_capacity(new.len());
    let mut waiting: Vec<Waiting> = Vec::new();

    // Closes the gap that ends before `end` in the old list.
    let mut close_gap = |end: usize, waiting: &mut Vec<Waiting<'a>>, pairs: &mut Vec<Pair<'a>>| {
        for Waiting { new, moved_from } in waiting.drain(..) {
            let reworded = |(position, _): &(usize, &Step)| *position < end;
            pairs.push(match moved_from {
                Some(old) => Pair::Kept {
                    old,
                    new,
                    moved: true,
                },
                None => match unmatched.next_if(reworded) {
                    Some(old) => Pair::Kept {
                        old,
                        new,
                        moved: false,
                    },
                    None => Pair::Added(new.0, new.1),
                },
            });
        }

        while let Some((position, step)) = unmatched.next_if(|(position, _)| *position < end) {
            pairs.push(Pair::Removed(position, step));
        }
    };

    let kept_order = in_order(&matches);
    for ((new, old), in_order) in new.iter().enumerate().zip(matches).zip(kept_order) {
        match old {
            Some(old) if in_order => {
                close_gap(old.0, &mut waiting, &mut pairs);
                pairs.push(Pair::Kept {
                    old,
                    new,
                    moved: false,
                });
            }
            moved_from => waiting.push(Waiting { new, moved_from }),
        }
    }

    close_gap(usize::MAX, &mut waiting, &mut pairs);
    pairs
}

/// Marks the longest run of matches whose old positions rise, by patience sorting. Going by the highest
/// position so far would be simpler, and would call every step moved when the last is put first.
fn in_order(matches: &[Option<(usize, &Step)>]) -> Vec<bool> {
    // For each length of a run, the old and the new position of the run's lowest possible end.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(matches.len());
    for (new, matched) in matches.iter().enumerate() {
        let Some((old, _)) = *matched else {
            before.push(None);
            continue;
        };

        let length = ends.partition_point(|(end, _)| *end < old);
        before.push(
            length
                .checked_sub(1)
                .and_then(|shorter| ends.get(shorter))
                .map(|(_, new)| *new),
        );

        match ends.get_mut(length) {
            Some(end) => *end = (old, new),
            None => ends.push((old, new)),
        }
    }

    let mut marks = vec![false; matches.len()];
    let mut next = ends.last().map(|(_, new)| *new);
    while let Some(new) = next {
        if let Some(mark) = marks.get_mut(new) {
            *mark = true;
        }
        next = before.get(new).copied().flatten();
    }

    marks
}
