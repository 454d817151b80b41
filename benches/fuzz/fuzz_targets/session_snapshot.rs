//! See `cogwork_fuzz::session_snapshot`.
#![cfg_attr(fuzzing, no_main)]

cogwork_fuzz::target!(cogwork_fuzz::session_snapshot);
