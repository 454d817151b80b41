//! The position of a run in the checked graph.

use crate::Action;
use crate::error::Location;
use crate::wiring::{Exit, Place, Target, Wiring};

#[derive(Default)]
pub(crate) struct Cursor<'f> {
    /// The places of the subflows around the next node, outermost first, and its own. The outermost one
    /// stays at the end, since errors after it name the flow.
    path: Vec<At<'f>>,
    /// The place of the next node.
    place: Option<&'f Place>,
    /// The action on which the flow ended.
    ended: Option<&'f Action>,
    steps: u64,
}

/// A place in a flow, by its index.
pub(crate) struct At<'f> {
    flow: &'f Wiring,
    pub(crate) index: usize,
}

impl<'f> At<'f> {
    fn place(&self) -> &'f Place {
        self.flow.place(self.index)
    }
}

impl<'f> Cursor<'f> {
    pub(crate) fn at_start(wiring: &'f Wiring) -> Self {
        let mut cursor = Self::default();
        cursor.enter(wiring);
        cursor
    }

    /// Creates a cursor at the last of these names, inside the subflows with the names before it.
    /// Returns `None` if the node doesn't exist.
    pub(crate) fn at_node(wiring: &'f Wiring, names: &[String], steps: u64) -> Option<Self> {
        let mut cursor = Self {
            steps,
            ..Self::default()
        };
        let mut inside = Some(wiring);

        for name in names {
            let flow = inside?;
            inside = cursor.push(flow, flow.index(name)?).subflow();
        }

        // A run is never at the place of a subflow, but at a node inside it.
        (cursor.place.is_some() && inside.is_none()).then_some(cursor)
    }

    /// Returns the number of steps of the cursor.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the places down to the next node, one per level.
    #[inline]
    pub(crate) fn path(&self) -> &[At<'f>] {
        &self.path
    }

    /// Returns the place of the next node; `None` after the end.
    #[inline]
    pub(crate) fn place(&self) -> Option<&'f Place> {
        self.place
    }

    /// Returns the action on which the flow ended, if it has.
    pub(crate) fn ended(&self) -> Option<&'f Action> {
        self.ended
    }

    /// Returns the names of the places of the subflows around the next node, and its own name.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'f String> {
        self.path.iter().map(|at| &at.place().name)
    }

    /// Returns the name of the flow, then the names of the places of the subflows around the next
    /// node; after the end, only the first.
    pub(crate) fn flow_path(&self) -> Vec<String> {
        let flow = self.path.first().map(|at| &at.flow.name);
        let names = flow.into_iter().chain(self.names());

        // The last name is the node's own.
        names.take(self.path.len()).cloned().collect()
    }

    /// Returns the location of the next node; after the end, the node has no name.
    #[cold]
    pub(crate) fn location(&self) -> Location {
        let node = self.place.map(|place| place.name.clone());
        Location {
            flow_path: self.flow_path(),
            node: node.unwrap_or_default(),
        }
    }

    /// Leaves the current node by this exit. When a subflow ends, its action leaves the place of
    /// the subflow in the flow around it; `build` has checked that there is an edge for it.
    #[inline]
    pub(crate) fn follow(&mut self, exit: &'f Exit) {
        // Counted here and not at the visit, so that a step that stops isn't counted.
        self.steps += 1;
        match exit.target {
            Target::Node(index) => self.go_to(index),
            Target::End | Target::Missing => self.leave(&exit.action),
        }
    }

    #[inline]
    fn go_to(&mut self, index: usize) {
        let Some(at) = self.path.last_mut() else {
            return;
        };

        at.index = index;
        let place = at.place();
        self.place = Some(place);

        if let Some(subflow) = place.subflow() {
            self.enter(subflow);
        }
    }

    #[cold]
    fn leave(&mut self, action: &'f Action) {
        while self.path.len() > 1 {
            self.path.pop();

            let around = self.path.last().and_then(|at| at.place().exit(action));
            // Otherwise, the subflow was the last place of the flow around it, which ends as well.
            if let Some(&Exit {
                target: Target::Node(index),
                ..
            }) = around
            {
                return self.go_to(index);
            }
        }

        self.place = None;
        self.ended = Some(action);
    }

    /// Moves to the start of a flow, and of a subflow at that place, down to a node.
    fn enter(&mut self, wiring: &'f Wiring) {
        // A loop and not a recursion, so that depth uses no stack.
        let mut next = Some(wiring);
        while let Some(wiring) = next {
            next = self.push(wiring, wiring.start).subflow();
        }
    }

    fn push(&mut self, flow: &'f Wiring, index: usize) -> &'f Place {
        let at = At { flow, index };
        let place = at.place();
        self.path.push(at);
        self.place = Some(place);

        place
    }
}
