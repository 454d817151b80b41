//! Where a run stands in the checked graph, and how an action moves it on.

use crate::Action;
use crate::wiring::{Place, Target, Wiring};

pub(crate) struct Cursor<'f> {
    /// The graphs from the flow down to the one the next node is in…
    levels: Vec<&'f Wiring>,
    /// …and the index of the next node, or of the subflow on the way to it, in each.
    position: Vec<usize>,
}

impl<'f> Cursor<'f> {
    pub(crate) fn at_start(wiring: &'f Wiring) -> Self {
        let mut cursor = Self { levels: Vec::new(), position: Vec::new() };
        cursor.enter(wiring);
        cursor
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

    /// The names of the flows down to the next node, outermost first.
    pub(crate) fn flow_path(&self) -> Vec<String> {
        self.levels.iter().map(|wiring| wiring.name.clone()).collect()
    }

    /// Follows the edge from where the run is. Where a subflow ends, its label leaves the subflow
    /// in the flow around it; `build` saw to it that there is an edge for it.
    pub(crate) fn follow(&mut self, action: &Action) {
        while let Some(place) = self.place() {
            let (Some(wiring), Some(_)) = (self.levels.pop(), self.position.pop()) else { return };
            if let Some(Target::Node(index)) = place.target(action) {
                self.levels.push(wiring);
                self.position.push(index);
                if let Some(subflow) = wiring.place(index).inside.subflow() {
                    self.enter(subflow);
                }
                return;
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
