//! The database of sessions, when something is wrong with it.

mod files;
mod killed;
mod locked;
mod others;
mod support;
