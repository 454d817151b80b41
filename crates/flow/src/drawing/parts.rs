//! The parts of a drawing of a flow, in order.

use std::fmt::{self, Write};
use std::sync::Arc;

use crate::wiring::{Exit, Inside, Place, Target, Wiring};

/// A part of a drawing. The ids of nodes and boxes are numbers instead of paths, so that the size
/// of a drawing is linear in the number of nodes.
#[derive(Clone, Copy)]
pub(crate) enum Part<'f> {
    /// The start of a flow, in the box with the id `inside`, or of the outermost flow.
    Flow {
        inside: Option<usize>,
        start: Figure<'f>,
    },
    /// A node, or any other place without a flow inside.
    Node(Figure<'f>),
    /// The start of a box around flows.
    Box(Figure<'f>),
    /// The end of a box.
    Close(Figure<'f>),
    Edge(Edge<'f>),
}

/// An edge between two places of a flow.
#[derive(Clone, Copy)]
pub(crate) struct Edge<'f> {
    pub(crate) from: Figure<'f>,
    pub(crate) exit: &'f Exit,
    /// The index of `exit` among the exits of `from`.
    pub(crate) index: usize,
    /// `None` for the end of the flow.
    pub(crate) to: Option<Figure<'f>>,
}

/// A place, or a branch of one.
#[derive(Clone, Copy)]
pub(crate) struct Figure<'f> {
    pub(crate) id: usize,
    /// The id of the box around it.
    pub(crate) inside: Option<usize>,
    pub(crate) kind: Kind<'f>,
}

#[derive(Clone, Copy)]
pub(crate) enum Kind<'f> {
    Place(&'f Place),
    Branch(&'f str),
}

impl<'f> Figure<'f> {
    pub(crate) fn name(self) -> &'f str {
        match self.kind {
            Kind::Place(place) => &place.name,
            Kind::Branch(name) => name,
        }
    }

    /// Returns the place; `None` for a branch.
    pub(crate) fn place(self) -> Option<&'f Place> {
        match self.kind {
            Kind::Place(place) => Some(place),
            Kind::Branch(_) => None,
        }
    }

    /// Returns whether this is a box around flows.
    pub(crate) fn is_box(self) -> bool {
        match self.kind {
            Kind::Place(place) => {
                matches!(
                    place.inside,
                    Inside::Subflow(_) | Inside::Each { .. } | Inside::Branches(_)
                )
            }
            Kind::Branch(_) => true,
        }
    }
}

impl fmt::Display for Figure<'_> {
    /// Writes the name and the kind of place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        let Kind::Place(place) = self.kind else {
            return Ok(());
        };

        match &place.inside {
            Inside::Node | Inside::Subflow(_) => Ok(()),
            Inside::Wait { event } => write!(f, ": waits for {event}"),
            Inside::Sleep => f.write_str(": sleeps"),
            Inside::Batch { at_most } | Inside::Each { at_most, .. } => {
                write!(f, ": each item, at most {at_most} at a time")
            }
            Inside::Branches(_) => f.write_str(": side by side"),
        }
    }
}

/// An iterator over the parts of a drawing of a flow and of all flows inside it. It uses a list
/// instead of recursion, which would use stack for each level of subflows.
pub(crate) struct Parts<'f> {
    todo: Vec<Todo<'f>>,
    ids: usize,
}

enum Todo<'f> {
    Flow(&'f Wiring, Option<usize>),
    /// The places of a flow, starting at an index.
    Places(Numbered<'f>, usize),
    /// The edges of a place, starting at an index, and then those of the places after it.
    Edges(Numbered<'f>, usize, usize),
    /// Branches, the id of the first, and the id of the box around them.
    Branches(&'f [(String, Arc<Wiring>)], usize, usize),
    Close(Figure<'f>),
}

/// A flow whose places have ids.
#[derive(Clone, Copy)]
struct Numbered<'f> {
    wiring: &'f Wiring,
    first: usize,
    inside: Option<usize>,
}

impl<'f> Numbered<'f> {
    fn figure(self, index: usize) -> Option<Figure<'f>> {
        let place = self.wiring.places.get(index)?;
        Some(Figure {
            id: self.first + index,
            inside: self.inside,
            kind: Kind::Place(place),
        })
    }
}

impl<'f> Parts<'f> {
    pub(crate) fn of(wiring: &'f Wiring) -> Self {
        Self {
            todo: vec![Todo::Flow(wiring, None)],
            ids: 0,
        }
    }

    /// Reserves `count` ids and returns the first.
    fn ids(&mut self, count: usize) -> usize {
        let first = self.ids;
        self.ids += count;
        first
    }

    /// Returns the part for a place. The flows inside it are drawn next.
    fn place(&mut self, place: &'f Place, figure: Figure<'f>) -> Part<'f> {
        match &place.inside {
            Inside::Node | Inside::Wait { .. } | Inside::Sleep | Inside::Batch { .. } => {
                return Part::Node(figure);
            }
            Inside::Subflow(flow) | Inside::Each { flow, .. } => {
                self.todo
                    .extend([Todo::Close(figure), Todo::Flow(flow, Some(figure.id))]);
            }
            Inside::Branches(branches) => {
                let first = self.ids(branches.len());
                self.todo.extend([
                    Todo::Close(figure),
                    Todo::Branches(branches, first, figure.id),
                ]);
            }
        }

        Part::Box(figure)
    }
}

impl<'f> Parts<'f> {
    fn start(&mut self, wiring: &'f Wiring, inside: Option<usize>) -> Option<Part<'f>> {
        let flow = Numbered {
            wiring,
            first: self.ids(wiring.places.len()),
            inside,
        };
        let edges = Todo::Edges(flow, 0, 0);
        let places = Todo::Places(flow, 0);

        self.todo.extend([edges, places]);
        let start = flow.figure(wiring.start)?;
        Some(Part::Flow { inside, start })
    }

    /// Returns the place at an index, if there is one.
    fn next_place(&mut self, flow: Numbered<'f>, index: usize) -> Option<Part<'f>> {
        let place = flow.wiring.places.get(index)?;
        let figure = flow.figure(index)?;

        self.todo.push(Todo::Places(flow, index + 1));
        Some(self.place(place, figure))
    }

    /// Returns the edge at an index of a place, if there is one.
    fn next_edge(&mut self, flow: Numbered<'f>, place: usize, index: usize) -> Option<Part<'f>> {
        let from = flow.figure(place)?;
        let Some(exit) = from.place().and_then(|place| place.exits.get(index)) else {
            self.todo.push(Todo::Edges(flow, place + 1, 0));
            return None;
        };

        self.todo.push(Todo::Edges(flow, place, index + 1));
        let to = match exit.target {
            Target::Node(target) => flow.figure(target),
            Target::End => None,
        };

        Some(Part::Edge(Edge {
            from,
            exit,
            index,
            to,
        }))
    }

    /// Returns the first of the branches, if there is one.
    fn next_branch(
        &mut self,
        branches: &'f [(String, Arc<Wiring>)],
        id: usize,
        around: usize,
    ) -> Option<Part<'f>> {
        let ((name, wiring), rest) = branches.split_first()?;
        let figure = Figure {
            id,
            inside: Some(around),
            kind: Kind::Branch(name),
        };

        self.todo.extend([
            Todo::Branches(rest, id + 1, around),
            Todo::Close(figure),
            Todo::Flow(wiring, Some(id)),
        ]);
        Some(Part::Box(figure))
    }
}

impl<'f> Iterator for Parts<'f> {
    type Item = Part<'f>;

    fn next(&mut self) -> Option<Part<'f>> {
        loop {
            let part = match self.todo.pop()? {
                Todo::Flow(wiring, inside) => self.start(wiring, inside),
                Todo::Places(flow, index) => self.next_place(flow, index),
                Todo::Edges(flow, place, index) => self.next_edge(flow, place, index),
                Todo::Branches(branches, id, around) => self.next_branch(branches, id, around),
                Todo::Close(figure) => Some(Part::Close(figure)),
            };

            if part.is_some() {
                return part;
            }
        }
    }
}

/// Identifies the start and the end of a flow by the box around it.
#[derive(Clone, Copy)]
pub(crate) struct FlowId(pub(crate) Option<usize>);

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_char('0'),
            Some(id) => write!(f, "_n{id}"),
        }
    }
}
