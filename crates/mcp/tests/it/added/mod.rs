//! Tools of programs, served in addition to the built-in ones.

mod choice;
mod tools;
