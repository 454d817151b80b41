//! See `cogwork_fuzz::reply`.
#![cfg_attr(fuzzing, no_main)]

cogwork_fuzz::target!(cogwork_fuzz::reply);
