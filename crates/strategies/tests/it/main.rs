//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

mod support;

mod branches;
mod built_in;
mod drivers;
mod exports;
mod limits;
mod replies;
mod sessions;
mod several_strategies;
mod snapshots;
mod tables;
mod work;
