//! Matches the steps of two lists; the rules are documented at `Plan::changes_since`.

use std::collections::{HashMap, VecDeque};
use std::iter::Peekable;
use std::mem;
use std::vec;

use crate::Step;

/// A step and its index in its list, starting at 0.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) index: usize,
    pub(crate) step: &'a Step,
}

/// The match of a step.
pub(crate) enum Pair<'a> {
    Kept {
        old: At<'a>,
        new: At<'a>,
        moved: bool,
    },
    Added(At<'a>),
    Removed(At<'a>),
}

/// Returns the pairs in the order of the new list, a removed step before its former successor.
pub(crate) fn pair<'a>(old: &'a [Step], new: &'a [Step]) -> Vec<Pair<'a>> {
    // The usual case. Each step is matched with the one at its own index then, even among steps with
    // equal descriptions.
    if have_equal_descriptions(old, new) {
        return pair_by_index(old, new);
    }

    let mut by_description: HashMap<&str, VecDeque<At<'_>>> = HashMap::new();
    for (index, step) in old.iter().enumerate() {
        // In the order of the old plan, so that equal descriptions are matched in order.
        let same = by_description.entry(&step.description).or_default();
        same.push_back(At { index, step });
    }

    let mut take = |step: &Step| {
        let same = by_description.get_mut(step.description.as_str())?;
        same.pop_front()
    };
    let matches: Vec<Option<At<'_>>> = new.iter().map(&mut take).collect();

    let mut unmatched: Vec<At<'_>> = by_description.into_values().flatten().collect();
    // The map has no order.
    unmatched.sort_unstable_by_key(|at| at.index);

    let mut pairing = Pairing {
        pairs: Vec::with_capacity(new.len()),
        unmatched: unmatched.into_iter().peekable(),
        waiting: Vec::new(),
    };

    // As few steps as possible count as moved.
    let kept_order = in_order(&matches);
    for (index, ((step, old), in_order)) in new.iter().zip(matches).zip(kept_order).enumerate() {
        let new = At { index, step };
        match old {
            Some(old) if in_order => pairing.keep(old, new),
            moved_from => pairing.waiting.push(Waiting { new, moved_from }),
        }
    }

    pairing.close_gap(usize::MAX);
    pairing.pairs
}

fn have_equal_descriptions(old: &[Step], new: &[Step]) -> bool {
    let mut both = old.iter().zip(new);
    old.len() == new.len() && both.all(|(old, new)| old.description == new.description)
}

fn pair_by_index<'a>(old: &'a [Step], new: &'a [Step]) -> Vec<Pair<'a>> {
    let both = old.iter().zip(new).enumerate();
    let pairs = both.map(|(index, (old, new))| Pair::Kept {
        old: At { index, step: old },
        new: At { index, step: new },
        moved: false,
    });

    pairs.collect()
}

struct Pairing<'a> {
    pairs: Vec<Pair<'a>>,
    /// The unmatched steps of the old list.
    unmatched: Peekable<vec::IntoIter<At<'a>>>,
    /// The steps of the new list since the last one that kept its order.
    waiting: Vec<Waiting<'a>>,
}

/// A step of the new list that didn't keep its order.
struct Waiting<'a> {
    new: At<'a>,
    moved_from: Option<At<'a>>,
}

impl<'a> Pairing<'a> {
    fn keep(&mut self, old: At<'a>, new: At<'a>) {
        self.close_gap(old.index);
        self.pairs.push(Pair::Kept {
            old,
            new,
            moved: false,
        });
    }

    /// Pairs the waiting steps with the unmatched steps before `end` in the old list.
    fn close_gap(&mut self, end: usize) {
        for waiting in mem::take(&mut self.waiting) {
            let pair = self.pair_before(end, waiting);
            self.pairs.push(pair);
        }

        while let Some(old) = self.unmatched.next_if(|old| old.index < end) {
            self.pairs.push(Pair::Removed(old));
        }
    }

    fn pair_before(&mut self, end: usize, waiting: Waiting<'a>) -> Pair<'a> {
        let Waiting { new, moved_from } = waiting;
        if let Some(old) = moved_from {
            let moved = true;
            return Pair::Kept { old, new, moved };
        }

        let moved = false;
        match self.unmatched.next_if(|old| old.index < end) {
            Some(old) => Pair::Kept { old, new, moved },
            None => Pair::Added(new),
        }
    }
}

/// Marks the longest increasing run of old positions, by patience sorting. Comparing each position
/// with the highest one so far would be simpler, but would report every step as moved when the last
/// one is moved to the front.
fn in_order(matches: &[Option<At<'_>>]) -> Vec<bool> {
    // For each length of a run, the old and new position of the lowest possible end.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(matches.len());
    for (new, matched) in matches.iter().enumerate() {
        let Some(At { index: old, .. }) = *matched else {
            before.push(None);
            continue;
        };

        // A binary search, which keeps plans of any length fast.
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
