//! Tools, resources and prompts of programs, served in addition to the built-in ones.

mod choice;
mod handler;
mod skills;
mod snapshots_of_lists;
mod tools;
