//! Where a run stands in the checked graph, and how an action moves it on.

use crate::Action;
use crate::wiring::{Place, Target, Wiring};

pub(crate) struct Cursor<'f> {
    /// The graphs from the flow down to the one the next node is in…
    levels: Vec<&'f Wiring>,
    /// …and the index of the next node, or of the subflow on the way to it, in each.
    position: Vec<usize>,
    /// What stands at the last of them: the next node.
    place: Option<&'f Place>,
    /// The label on which the flow ended.
    ended: Option<Action>,
    steps: u64,
}

impl<'f> Cursor<'f> {
    pub(crate) fn at_start(wiring: &'f Wiring) -> Self {
        let mut cursor =
            Self { levels: Vec::new(), position: Vec::new(), place: None, ended: None, steps: 0 };
        cursor.enter(wiring);
        cursor
    }

    /// At the node of this name, inside the subflows of the names before it; `None` where there is none.
    pub(crate) fn at_node(mut wiring: &'f Wiring, names: &[String], steps: u64) -> Option<Self> {
        let mut cursor = Self { levels: Vec::new(), position: Vec::new(), place: None, ended: None, steps };
        let (node, subflows) = names.split_last()?;
        for name in subflows {
            let place = cursor.stand(wiring, wiring.index(name)?);
            wiring = place.inside.subflow()?;
        }
        let place = cursor.stand(wiring, wiring.index(node)?);
        place.inside.subflow().is_none().then_some(cursor)
    }

    /// How often the cursor went on.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Indices down to the next node, one a level.
    #[inline]
    pub(crate) fn position(&self) -> &[usize] {
        &self.position
    }

    /// The place of the next node; `None` at the end.
    #[inline]
    pub(crate) fn place(&self) -> Option<&'f Place> {
        self.place
    }

    /// The label on which the flow ended, if it has.
    pub(crate) fn ended(&self) -> Option<&Action> {
        self.ended.as_ref()
    }

    /// The names under which the subflows down to the next node stand, and its own.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'f String> {
        self.levels.iter().zip(&self.position).map(|(wiring, index)| &wiring.place(*index).name)
    }

    /// The name of the flow, then the names under which the subflows down to the next node stand
    /// in the flows around them; at the end the first alone.
    pub(crate) fn flow_path(&self) -> Vec<String> {
        let outermost = self.levels.first().map(|wiring| &wiring.name);
        // The last name is that of the node itself.
        outermost.into_iter().chain(self.names()).take(self.levels.len()).cloned().collect()
    }

    /// Goes on to a target of the node's. Where a subflow ends, its label leaves the subflow in the
    /// flow around it; `build` saw to it that there is an edge for it.
    #[inline]
    pub(crate) fn follow(&mut self, target: Target, action: &Action) {
        self.steps += 1;
        match target {
            Target::Node(index) => self.go_to(index),
            Target::End => self.leave(action),
        }
    }

    #[inline]
    fn go_to(&mut self, index: usize) {
        let (Some(wiring), Some(position)) = (self.levels.last(), self.position.last_mut()) else { return };
        let place = wiring.place(index);
        *position = index;
        self.place = Some(place);
        if let Some(subflow) = place.inside.subflow() {
            self.enter(subflow);
        }
    }

    #[cold]
    fn leave(&mut self, action: &Action) {
        loop {
            if self.levels.len() <= 1 {
                // The outermost stays: errors at the end name it.
                self.place = None;
                self.ended = Some(action.clone());
                return;
            }
            self.levels.pop();
            self.position.pop();
            self.place = self.levels.last().zip(self.position.last()).map(|(wiring, at)| wiring.place(*at));
            match self.place.and_then(|place| place.target(action)) {
                Some(Target::Node(index)) => return self.go_to(index),
                Some(Target::End) => {}
                None => return,
            }
        }
    }

    /// Goes to the start of a flow, and of the subflow that stands there, down to a node.
    fn enter(&mut self, wiring: &'f Wiring) {
        let mut next = Some(wiring);
        while let Some(wiring) = next {
            next = self.stand(wiring, wiring.start).inside.subflow();
        }
    }

    fn stand(&mut self, wiring: &'f Wiring, index: usize) -> &'f Place {
        let place = wiring.place(index);
        self.levels.push(wiring);
        self.position.push(index);
        self.place = Some(place);
        place
    }
}
