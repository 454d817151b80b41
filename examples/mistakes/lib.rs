//! Common mistakes, and what the compiler says about them: see `tests/ui`.
//!
//! They are a package of their own so that `trybuild`, which compiles all dependencies of the package it tests once
//! more, compiles few.
