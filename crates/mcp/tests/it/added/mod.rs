//! Tools of programs, served in addition to the built-in ones.

mod choice;
mod snapshots_of_lists;
mod tools;
