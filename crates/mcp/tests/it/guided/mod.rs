//! Reasoning with the model of the host: the tools `begin` and `answer`.

mod budgets;
mod concluding;
mod hostile;
mod killed;
mod mind;
mod replies;
mod sessions;
mod strategies;
mod support;
