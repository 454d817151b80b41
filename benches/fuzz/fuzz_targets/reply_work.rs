//! See `cogwork_fuzz::reply_work`.
#![cfg_attr(fuzzing, no_main)]

cogwork_fuzz::target!(cogwork_fuzz::reply_work);
