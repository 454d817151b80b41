//! Executes runs.
//!
//! A step goes down through these files. Each depends only on those below it:
//!
//! 1. [`walk`]: the loop over the steps of one flow. It takes a step from the run's [`budget`],
//!    gives it a name if somebody asks for one ([`named_step`]), visits the node, and moves the
//!    [`cursor`] along the edge.
//! 2. [`graph`]: the nodes of a flow, by the index that the cursor gives.
//! 3. [`visit`]: what can be visited, without its types; [`here`] is what it learns of the run.
//!    Each kind of place in [`places`](crate::places) is one, and so is a [`node`].
//! 4. [`call`]: one call of `exec`, in a run that has a journal.
//!
//! Errors come back up as a [`failure`], to which the walk adds the location. [`inside`] runs the
//! flows inside a visit, each with its own walk.

pub(crate) mod budget;
pub(crate) mod call;
pub(crate) mod context;
pub(crate) mod cursor;
pub(crate) mod failure;
pub(crate) mod graph;
pub(crate) mod here;
pub(crate) mod inside;
pub(crate) mod journaled;
pub(crate) mod named_step;
pub(crate) mod node;
pub(crate) mod stop;
pub(crate) mod visit;
pub(crate) mod walk;
pub(crate) mod yielding;
