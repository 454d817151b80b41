//! Pages of runs in a real browser. `scripts/check-browser` starts its driver and runs these tests.

mod accessible;
mod controls;
mod hostile;
mod keys;
mod kinds;
mod names;
mod opening;
mod replies;
mod studio;
mod support;
