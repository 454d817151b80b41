//! The integration tests, as a single program, since linking takes longer than running most of them.

mod support;

mod branches;
mod built_in;
mod growing;
mod json;
mod methods;
mod model_servers;
mod replies;
mod sessions;
mod snapshots;
mod steps;
mod tables;
