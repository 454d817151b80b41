//! See `cogwork_fuzz::record`.
#![cfg_attr(fuzzing, no_main)]

cogwork_fuzz::target!(cogwork_fuzz::record);
