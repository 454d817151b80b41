//! Reasoning with the model of the host: the tools `begin` and `answer`.

mod budgets;
mod concluding;
mod mind;
mod replies;
mod sessions;
mod strategies;
mod support;
