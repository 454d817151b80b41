//! The integration tests, as a single program, since linking takes longer than running most of them.

mod support;

mod branches;
mod built_in;
mod exports;
mod growing;
mod json;
mod limits;
mod methods;
mod model_servers;
mod replies;
mod sessions;
mod several_strategies;
mod snapshots;
mod tables;
mod undo;
