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
    (
        "workflow",
        "a chain of nodes, with a retry and a batch in the middle",
        workflow::main,
    ),
    (
        "batch",
        "one call for each of many items, in order, each with its own retries",
        batch::main,
    ),
    (
        "parallel_batch",
        "several items at a time, with a timeout and a fallback for each",
        parallel_batch::main,
    ),
    (
        "map_reduce",
        "a batch whose outcomes are the input of one more call",
        map_reduce::main,
    ),
    (
        "nested_batch",
        "a flow for each item, with a batch in it; `join` may fail",
        nested_batch::main,
    ),
    (
        "majority_vote",
        "the same question several times, and the most frequent answer",
        majority_vote::main,
    ),
    (
        "supervisor",
        "a node that sends the work back to another, a limited number of times",
        supervisor::main,
    ),
    (
        "two_agents",
        "two runs that send each other messages through queues of tokio",
        two_agents::main,
    ),
    (
        "human_in_the_middle",
        "a run that pauses until a person has answered",
        human_in_the_middle::main,
    ),
    (
        "retrieval",
        "passages of a folder of texts in the prompt, found by their embeddings",
        retrieval::main,
    ),
    (
        "agent",
        "a ready-made agent that calls tools until it can answer",
        agent::main,
    ),
    (
        "agent_with_nodes",
        "the same agent from nodes, where each decision of the model is an edge",
        agent_with_nodes::main,
    ),
    (
        "chat_with_memory",
        "a conversation in the state, with a limited number of messages; the run waits for each message",
        chat_with_memory::main,
    ),
    (
        "typed_extraction",
        "a résumé as a struct, in four lines in addition to the type; corrections are reported",
        typed_extraction::main,
    ),
    (
        "judge",
        "a text that is written again until another model gives it enough points",
        judge::main,
    ),
    (
        "text_to_sql",
        "a query for SQLite, whose errors are sent back to the model; the database can only be read",
        text_to_sql::main,
    ),
    (
        "stream_to_a_web_client",
        "server-sent events with axum; the run stops when the client leaves, and concurrent runs are limited",
        stream_to_a_web_client::main,
    ),
];

fn main() -> ExitCode {
    run(&PATTERNS)
}
