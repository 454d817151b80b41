//! The integration tests, as a single program, since linking takes longer than running most of them.

mod support;

mod branches;
mod built_in;
mod drivers;
mod exports;
mod growing;
mod hostile_replies;
mod json;
mod limits;
mod model_servers;
mod readable;
mod replies;
mod sessions;
mod several_strategies;
mod snapshots;
mod tables;
mod undo;
mod work;
