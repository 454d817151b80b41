//! The database of sessions, when something is wrong with it.

mod files;
#[cfg(unix)]
mod full;
mod killed;
mod locked;
mod others;
mod support;
