//! Where a run stands in the checked graph, and how an action moves it on.

use crate::Action;
use crate::wiring::{Place, Target, Wiring};

pub(crate) struct Cursor<'f> {
    /// The graphs from the flow down to the one the next node is in…
    levels: Vec<&'f Wiring>,
    /// …and the index of the next node, or of the subflow on the way to it, in each.
    position: Vec<usize>,
    steps: u64,
}

impl<'f> Cursor<'f> {
    pub(crate) fn at_start(wiring: &'f Wiring) -> Self {
        let mut cursor = Self { levels: Vec::new(), position: Vec::new(), steps: 0 };
        cursor.enter(wiring);
        cursor
    }

    /// How often the cursor went on.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Indices down to the next node, one a level; empty at the end.
    pub(crate) fn position(&self) -> &[usize] {
        &self.position
    }

    /// The place of the next node; `None` at the end.
    pub(crate) fn place(&self) -> Option<&'f Place> {
        let (wiring, index) = (self.levels.last()?, self.position.last()?);
        Some(wiring.place(*index))
    }

    /// The name of the flow, then the names under which the subflows down to the next node stand
    /// in the flows around them.
    pub(crate) fn flow_path(&self) -> Vec<String> {
        let around = self.levels.iter().zip(&self.position).map(|(wiring, index)| &wiring.place(*index).name);
        let outermost = self.levels.first().map(|wiring| &wiring.name);
        // The last place is the node itself.
        outermost.into_iter().chain(around).take(self.levels.len()).cloned().collect()
    }

    /// Goes on to a target of the node's. Where a subflow ends, its label leaves the subflow in the
    /// flow around it; `build` saw to it that there is an edge for it.
    pub(crate) fn follow(&mut self, mut target: Target, action: &Action) {
        self.steps += 1;
        loop {
            match (target, self.levels.last(), self.position.last_mut()) {
                (Target::Node(index), Some(wiring), Some(position)) => {
                    *position = index;
                    if let Some(subflow) = wiring.place(index).inside.subflow() {
                        self.enter(subflow);
                    }
                    return;
                }
                _ => {
                    self.levels.pop();
                    self.position.pop();
                    let Some(around) = self.place().and_then(|place| place.target(action)) else { return };
                    target = around;
                }
            }
        }
    }

    /// Goes to the start of a flow, and of the subflow that stands there, down to a node.
    fn enter(&mut self, wiring: &'f Wiring) {
        let mut next = Some(wiring);
        while let Some(wiring) = next {
            self.levels.push(wiring);
            self.position.push(wiring.start);
            next = wiring.place(wiring.start).inside.subflow();
        }
    }
}
