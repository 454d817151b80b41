//! Reasoning with the model of the host: the tools `begin` and `answer`.

mod mind;
mod strategies;
mod support;
