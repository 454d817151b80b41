//! Examples of the library, one file each, with their output in the header. They run offline.
//!
//! `cargo run --example tour` lists them, and `cargo run --example tour -- NAME` runs one.

#![allow(
    unreachable_pub,
    reason = "a file that is copied has a public `main`, too"
)]

mod agents;
mod cot_in_a_larger_flow;
mod custom_backend;
mod fork_a_run;
mod hello_flow;
mod least_to_most;
mod number_game;
mod own_thinking_mode;
mod pause_for_a_person;
mod plan_tour;
mod reflection;
mod resume_a_saved_state;
mod strategies_by_themselves;
mod stream_a_turn;
mod tools_in_the_loop;
mod vote_over_paths;
mod watch_a_run;

use std::process::ExitCode;

use cogwork_examples::{Example, run};

const EXAMPLES: [Example; 17] = [
    ("hello_flow", hello_flow::main),
    ("custom_backend", custom_backend::main),
    ("cot_in_a_larger_flow", cot_in_a_larger_flow::main),
    ("plan_tour", plan_tour::main),
    ("resume_a_saved_state", resume_a_saved_state::main),
    ("pause_for_a_person", pause_for_a_person::main),
    ("watch_a_run", watch_a_run::main),
    ("fork_a_run", fork_a_run::main),
    ("stream_a_turn", stream_a_turn::main),
    ("tools_in_the_loop", tools_in_the_loop::main),
    ("agents", agents::main),
    ("reflection", reflection::main),
    ("own_thinking_mode", own_thinking_mode::main),
    ("strategies_by_themselves", strategies_by_themselves::main),
    ("least_to_most", least_to_most::main),
    ("vote_over_paths", vote_over_paths::main),
    ("number_game", number_game::main),
];

fn main() -> ExitCode {
    run("tour", &EXAMPLES)
}
