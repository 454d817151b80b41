//! See `cogwork_fuzz::typed_answer`.
#![cfg_attr(fuzzing, no_main)]

cogwork_fuzz::target!(cogwork_fuzz::typed_answer);
