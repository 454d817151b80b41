//! Executes runs.
//!
//! A step goes through these files:
//!
//! 1. [`walk`]: the loop over the steps of one flow. It takes a step from the run's [`budget`],
//!    names it if the run has observers ([`named_step`]), visits the node, and moves the [`cursor`]
//!    along the edge.
//! 2. [`visit`]: the type-erased visits of the places of a flow, which see the run as a [`context`]. A
//!    visit is implemented by a [`node`] and by each kind of place in [`places`](crate::places).
//! 3. [`recorder`]: the call of `exec` in a run with a journal, and the calls inside it.
//!
//! Errors come back up as a [`failure`], to which the walk adds the location. [`inner_work`]
//! runs the flows inside a visit, each with its own walk.

pub(crate) mod attempts;
pub(crate) mod budget;
pub(crate) mod context;
pub(crate) mod cursor;
pub(crate) mod failure;
pub(crate) mod inner_work;
pub(crate) mod named_step;
pub(crate) mod node;
pub(crate) mod recorder;
pub(crate) mod stop;
pub(crate) mod visit;
pub(crate) mod walk;
