//! What programs serve in addition to the built-in tools.

mod choice;
mod handler;
mod skills;
mod snapshots_of_lists;
mod tools;
