//! See `cogwork_fuzz::work`.
#![cfg_attr(fuzzing, no_main)]

cogwork_fuzz::target!(cogwork_fuzz::work);
