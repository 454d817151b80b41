//! Matches the steps of two lists; the rules are documented at `Plan::changes_since`.

use std::collections::{HashMap, VecDeque};

use crate::Step;

/// The match of a step. Positions are indices in the list of the step, starting at 0.
pub(crate) enum Pair<'a> {
    Kept {
        old: (usize, &'a Step),
        new: (usize, &'a Step),
        moved: bool,
    },
    Added(usize, &'a Step),
    Removed(usize, &'a Step),
}

/// An unmatched step of the new list.
struct Waiting<'a> {
    new: (usize, &'a Step),
    moved_from: Option<(usize, &'a Step)>,
}

/// The pairs in the order of the new list, a removed step before its former successor.
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

    // Pairs the unmatched steps before `end` in the old list.
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

/// Marks the longest increasing run of old positions, by patience sorting. Comparing each position
/// with the highest one so far would be simpler, but would report every step as moved when the last
/// one is moved to the front.
fn in_order(matches: &[Option<(usize, &Step)>]) -> Vec<bool> {
    // For each length of a run, the old and new position of the lowest possible end.
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
