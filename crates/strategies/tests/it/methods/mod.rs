//! Runs of strategies with scripted models: right, wrong, empty and endless ones.

mod answers;
mod approval;
mod attempts;
mod complaints;
mod concluding;
mod endings;
mod game_of_24;
mod hostile;
mod random;
mod self_consistency;
mod shown;
pub(crate) mod support;
mod tables;
pub(crate) mod wires;
