//! See `cogwork_fuzz::stage_replies`.
#![cfg_attr(fuzzing, no_main)]

cogwork_fuzz::target!(cogwork_fuzz::stage_replies);
