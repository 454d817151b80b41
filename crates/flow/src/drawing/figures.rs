//! The figures of a drawing: the places of a flow and of all flows inside it, with their ids.

use std::fmt;

use crate::wiring::{Inside, Place, Wiring};

/// A flow in a drawing.
pub(super) struct DrawnFlow<'f> {
    /// The id of the first figure; the others follow.
    pub(super) first: usize,
    /// The id of the place where a run starts.
    pub(super) start: usize,
    pub(super) figures: Vec<Figure<'f>>,
}

/// A place, or a branch of one.
pub(super) struct Figure<'f> {
    /// A number instead of a path, so that the size of a drawing is linear in the number of nodes.
    pub(super) id: usize,
    /// The id of the box around it.
    pub(super) inside: Option<usize>,
    pub(super) name: &'f str,
    /// `None` for a branch.
    pub(super) place: Option<&'f Place>,
    pub(super) content: Content<'f>,
}

pub(super) enum Content<'f> {
    Nothing,
    Flow(DrawnFlow<'f>),
    Branches(Vec<Figure<'f>>),
}

impl<'f> DrawnFlow<'f> {
    pub(super) fn of(wiring: &'f Wiring) -> Self {
        Self::numbered(wiring, None, &mut 0)
    }

    /// Numbers the places of a flow with the next ids, and then those inside them.
    fn numbered(wiring: &'f Wiring, inside: Option<usize>, next: &mut usize) -> Self {
        let first = reserve(next, wiring.places.len());
        let figures = wiring.places.iter().zip(first..).map(|(place, id)| Figure {
            id,
            inside,
            name: &place.name,
            place: Some(place),
            content: Content::of(place, id, next),
        });

        Self {
            first,
            start: first + wiring.start,
            figures: figures.collect(),
        }
    }
}

impl<'f> Content<'f> {
    fn of(place: &'f Place, id: usize, next: &mut usize) -> Self {
        match &place.inside {
            Inside::Node | Inside::Wait { .. } | Inside::Sleep | Inside::Batch { .. } => {
                Self::Nothing
            }
            Inside::Subflow(flow) | Inside::Each { flow, .. } => {
                Self::Flow(DrawnFlow::numbered(flow, Some(id), next))
            }
            Inside::Branches(branches) => {
                let first = reserve(next, branches.len());
                let branches = branches.iter().zip(first..);
                let figures = branches.map(|((name, wiring), branch)| Figure {
                    id: branch,
                    inside: Some(id),
                    name,
                    place: None,
                    content: Self::Flow(DrawnFlow::numbered(wiring, Some(branch), next)),
                });

                Self::Branches(figures.collect())
            }
        }
    }
}

/// Reserves some ids and returns the first.
fn reserve(next: &mut usize, count: usize) -> usize {
    let first = *next;
    *next += count;
    first
}

impl<'f> Figure<'f> {
    /// Returns whether this is a box around flows.
    pub(super) fn is_box(&self) -> bool {
        !matches!(self.content, Content::Nothing)
    }

    /// Returns the figures inside the box.
    pub(super) fn figures(&self) -> &[Figure<'f>] {
        match &self.content {
            Content::Nothing => &[],
            Content::Flow(flow) => &flow.figures,
            Content::Branches(branches) => branches,
        }
    }
}

impl fmt::Display for Figure<'_> {
    /// Writes the name and the kind of place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        let Some(place) = self.place else {
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
