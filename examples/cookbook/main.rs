//! The patterns of the cookbook, one file each, with their output in the header. They run offline.
//!
//! `cargo run --example cookbook` lists them, and `cargo run --example cookbook -- NAME` runs one.

#![allow(
    unreachable_pub,
    reason = "a file that is copied has a public `main`, too"
)]

mod agent;
mod agent_with_nodes;
mod batch;
mod chat_with_memory;
mod human_in_the_middle;
mod judge;
mod majority_vote;
mod map_reduce;
mod nested_batch;
mod parallel_batch;
mod retrieval;
mod stream_to_a_web_client;
mod supervisor;
mod text_to_sql;
mod two_agents;
mod typed_extraction;
mod workflow;

use std::process::ExitCode;

use cogwork_examples::{Example, run};

const PATTERNS: [Example; 17] = [
    ("workflow", workflow::main),
    ("batch", batch::main),
    ("parallel_batch", parallel_batch::main),
    ("map_reduce", map_reduce::main),
    ("nested_batch", nested_batch::main),
    ("majority_vote", majority_vote::main),
    ("supervisor", supervisor::main),
    ("two_agents", two_agents::main),
    ("human_in_the_middle", human_in_the_middle::main),
    ("retrieval", retrieval::main),
    ("agent", agent::main),
    ("agent_with_nodes", agent_with_nodes::main),
    ("chat_with_memory", chat_with_memory::main),
    ("typed_extraction", typed_extraction::main),
    ("judge", judge::main),
    ("text_to_sql", text_to_sql::main),
    ("stream_to_a_web_client", stream_to_a_web_client::main),
];

fn main() -> ExitCode {
    run("cookbook", &PATTERNS)
}
