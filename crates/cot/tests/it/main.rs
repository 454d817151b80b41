//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

mod hostile_replies;
mod node;
mod prompts;
mod properties;
mod reading;
mod real_replies;
mod repairing;
mod requests;
mod schemas;
mod work;
