//! See `cogwork_fuzz::plan`.
#![cfg_attr(fuzzing, no_main)]

cogwork_fuzz::target!(cogwork_fuzz::plan);
