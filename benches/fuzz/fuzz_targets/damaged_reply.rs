//! See `cogwork_fuzz::damaged_reply`.
#![cfg_attr(fuzzing, no_main)]

cogwork_fuzz::target!(cogwork_fuzz::damaged_reply);
