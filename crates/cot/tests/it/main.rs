//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

mod growing;
mod hostile;
mod hostile_replies;
mod node;
mod prompts;
mod reading;
mod real_replies;
mod refused_over_http;
mod repairing;
mod repairing_hostile;
mod repairing_properties;
mod requests;
mod schemas;
mod work;
