//! Examples of the library, one file each, with their output in the header. They run offline.
//!
//! `cargo run --example tour` lists them, and `cargo run --example tour -- NAME` runs one.

#![allow(
    unreachable_pub,
    reason = "a file that is copied has a public `main`, too"
)]

mod agents;
mod batch_and_branches;
mod cot_in_a_larger_flow;
mod custom_backend;
mod fork_a_run;
mod game_of_24;
mod hello_flow;
mod least_to_most;
mod own_thinking_mode;
mod pause_for_a_person;
mod plan_tour;
mod react_calculator;
mod reflection;
mod resume_a_saved_state;
mod server_sent_events;
mod strategies_by_themselves;
mod stream_a_turn;
mod tools_in_the_loop;
mod typed_answer;
mod vote_over_paths;
mod watch_a_run;

use std::process::ExitCode;

use cogwork_examples::{Example, run};

const EXAMPLES: [Example; 21] = [
    (
        "hello_flow",
        "a first flow: three nodes, a loop, and its picture",
        hello_flow::main,
    ),
    (
        "custom_backend",
        "a client of your own",
        custom_backend::main,
    ),
    (
        "cot_in_a_larger_flow",
        "two chains of thought as nodes of a larger flow",
        cot_in_a_larger_flow::main,
    ),
    (
        "plan_tour",
        "plans as data: read, changed, compared and drawn",
        plan_tour::main,
    ),
    (
        "resume_a_saved_state",
        "a run that reached its limit, saved and resumed",
        resume_a_saved_state::main,
    ),
    (
        "batch_and_branches",
        "a batch with retries, and branches in parallel",
        batch_and_branches::main,
    ),
    (
        "pause_for_a_person",
        "a run that waits for an answer, while the program ends",
        pause_for_a_person::main,
    ),
    (
        "watch_a_run",
        "the events of a run, and its path through the graph",
        watch_a_run::main,
    ),
    (
        "fork_a_run",
        "a run that is repeated from a step, with another outcome or prompt",
        fork_a_run::main,
    ),
    (
        "stream_a_turn",
        "a thought that grows as the model writes it",
        stream_a_turn::main,
    ),
    (
        "server_sent_events",
        "the events of a run over HTTP",
        server_sent_events::main,
    ),
    (
        "tools_in_the_loop",
        "tools in the chain of thought, one of which a person approves",
        tools_in_the_loop::main,
    ),
    (
        "agents",
        "agents in a flow that choose the next one",
        agents::main,
    ),
    (
        "typed_answer",
        "answers as types, in one call, in a flow and in a typed loop",
        typed_answer::main,
    ),
    (
        "reflection",
        "what reflection gains, and what it costs",
        reflection::main,
    ),
    (
        "own_thinking_mode",
        "a custom thinking mode",
        own_thinking_mode::main,
    ),
    (
        "strategies_by_themselves",
        "ReAct and a tree of thoughts, stage by stage",
        strategies_by_themselves::main,
    ),
    (
        "react_calculator",
        "ReAct with the tools of a calculator",
        react_calculator::main,
    ),
    (
        "least_to_most",
        "a strategy of your own: smaller questions, the easiest first",
        least_to_most::main,
    ),
    (
        "vote_over_paths",
        "self-consistency: a vote over several paths",
        vote_over_paths::main,
    ),
    (
        "game_of_24",
        "the game of 24, which needs a search",
        game_of_24::main,
    ),
];

fn main() -> ExitCode {
    run(&EXAMPLES)
}
