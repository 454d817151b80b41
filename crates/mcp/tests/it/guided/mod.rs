//! Reasoning with the model of the host: the tool `reason`.

mod hostile;
mod killed;
mod mind;
mod replies;
mod sessions;
mod strategies;
mod support;

pub(crate) use support::View;
