//! The integration tests, as one program: each program is linked by itself, which takes longer than most of them run.

mod changes;
mod deep_plans;
mod finding;
mod properties;
mod renderings;
mod serialised_form;
mod shown;
