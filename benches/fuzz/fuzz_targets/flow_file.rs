//! See `cogwork_fuzz::flow_file`.
#![cfg_attr(fuzzing, no_main)]

cogwork_fuzz::target!(cogwork_fuzz::flow_file);
