//! See `cogwork_fuzz::strategy_table`.
#![cfg_attr(fuzzing, no_main)]

cogwork_fuzz::target!(cogwork_fuzz::strategy_table);
