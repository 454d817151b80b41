//! The position of a run in the checked graph.

use crate::Action;
use crate::error::Location;
use crate::wiring::{Exit, Place, Target, Wiring};

pub(crate) struct Cursor<'f> {
    flow: &'f Wiring,
    /// The graph with the next node: that of the flow, or of a subflow.
    innermost: &'f Wiring,
    /// The index of the next node in the flow, or of the subflow that contains it, and so on in that.
    position: Vec<usize>,
    /// The place of the next node.
    place: Option<&'f Place>,
    /// The action on which the flow ended.
    ended: Option<&'f Action>,
    steps: u64,
}

impl<'f> Cursor<'f> {
    pub(crate) fn at_start(wiring: &'f Wiring) -> Self {
        let mut cursor = Self::nowhere(wiring, 0);
        cursor.enter(wiring);
        cursor
    }

    /// Creates a cursor at the last of these names, inside the subflows with the names before it.
    /// Returns `None` if the node doesn't exist.
    pub(crate) fn at_node(mut wiring: &'f Wiring, names: &[String], steps: u64) -> Option<Self> {
        let mut cursor = Self::nowhere(wiring, steps);
        let (node, subflows) = names.split_last()?;

        for name in subflows {
            let place = cursor.push(wiring, wiring.index(name)?);
            wiring = place.subflow()?;
        }

        let place = cursor.push(wiring, wiring.index(node)?);
        // A run is never at the place of a subflow, but at a node inside it.
        place.subflow().is_none().then_some(cursor)
    }

    fn nowhere(flow: &'f Wiring, steps: u64) -> Self {
        Self {
            flow,
            innermost: flow,
            position: Vec::new(),
            place: None,
            ended: None,
            steps,
        }
    }

    /// Returns the number of steps of the cursor.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the indices down to the next node, one per level.
    #[inline]
    pub(crate) fn position(&self) -> &[usize] {
        &self.position
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
        let mut next = Some(self.flow);
        self.position.iter().map_while(move |index| {
            let place = next?.place(*index);
            next = place.subflow();
            Some(&place.name)
        })
    }

    /// Returns the name of the flow, then the names of the places of the subflows around the next
    /// node; after the end, only the first.
    pub(crate) fn flow_path(&self) -> Vec<String> {
        let names = std::iter::once(&self.flow.name).chain(self.names());

        // The last name is the node's own.
        names.take(self.position.len()).cloned().collect()
    }

    /// Returns the location of the next node; after the end, the node has no name.
    #[cold]
    pub(crate) fn location(&self) -> Location {
        let node = self
            .place
            .map_or_else(String::new, |place| place.name.clone());
        Location {
            flow_path: self.flow_path(),
            node,
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
        // There always is a position, because the outermost one is never removed.
        let Some(position) = self.position.last_mut() else {
            return;
        };

        let place = self.innermost.place(index);
        *position = index;
        self.place = Some(place);

        if let Some(subflow) = place.subflow() {
            self.enter(subflow);
        }
    }

    #[cold]
    fn leave(&mut self, action: &'f Action) {
        loop {
            if self.position.len() <= 1 {
                // The outermost level remains, since errors after the end name it.
                self.place = None;
                self.ended = Some(action);
                return;
            }

            self.position.pop();
            self.find_place();

            match self.place.and_then(|place| place.exit(action)) {
                Some(exit) => match exit.target {
                    Target::Node(index) => return self.go_to(index),
                    // The subflow was the last place of the flow around it, which ends as well.
                    Target::End | Target::Missing => {}
                },
                // Doesn't happen: `build` has checked that each end of a subflow has an exit.
                None => return,
            }
        }
    }

    /// Looks up the place at the position, from the outermost flow on.
    fn find_place(&mut self) {
        let mut wiring = Some(self.flow);
        // From the outside, because an inner flow doesn't know the one around it. Subflows end
        // rarely.
        for index in &self.position {
            let Some(innermost) = wiring else {
                return;
            };

            let place = innermost.place(*index);
            self.innermost = innermost;
            self.place = Some(place);
            wiring = place.subflow();
        }
    }

    /// Moves to the start of a flow, and of a subflow at that place, down to a node.
    fn enter(&mut self, wiring: &'f Wiring) {
        // A loop and not a recursion, so that depth uses no stack.
        let mut next = Some(wiring);
        while let Some(wiring) = next {
            next = self.push(wiring, wiring.start).subflow();
        }
    }

    fn push(&mut self, wiring: &'f Wiring, index: usize) -> &'f Place {
        let place = wiring.place(index);
        self.position.push(index);
        self.innermost = wiring;
        self.place = Some(place);

        place
    }
}
