//! Calls per second of `sequentialthinking` over stdio, for several servers in turn:
//!
//! ```console
//! $ cargo bench -p cogwork-benches --bench mcp_stdio -- 'NAME=COMMAND' 'NAME=COMMAND' …
//! ```
//!
//! The last server is the one that the others are compared with. `scripts/check-mcp --bench` runs
//! this with the official server. With `--work COMMAND`, where the command starts our server with
//! sessions in memory, it counts instructions instead, with callgrind: those of a thought that
//! arrives alone or with others, and in a short and in a long session.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench may stop with a panic"
)]

mod client;
mod exchange;
mod times;
mod work;

use std::process::ExitCode;

use client::Client;
use times::Times;

/// The number of times that each server is started.
const ROUNDS: usize = 5;

/// The number of thoughts in each part of a round.
const THOUGHTS: usize = 2_000;

/// The numbers of requests that wait in the parts of a round.
const WINDOWS: [usize; 3] = [1, 16, 64];

fn main() -> ExitCode {
    let arguments = std::env::args().skip(1);
    let arguments: Vec<_> = arguments.filter(|argument| argument != "--bench").collect();

    match arguments.as_slice() {
        [flag, command] if flag == "--work" => work::compare(command),
        servers if !servers.is_empty() && servers.iter().all(|server| server.contains('=')) => {
            compare(servers);
        }
        _ => println!("mcp_stdio: no servers; run scripts/check-mcp --bench"),
    }
    ExitCode::SUCCESS
}

fn compare(servers: &[String]) {
    let servers = servers.iter().filter_map(|server| server.split_once('='));
    let mut servers: Vec<_> = servers
        .map(|(name, command)| (name, command, Times::default()))
        .collect();

    // The machine may become slower or faster, so the servers take turns.
    for _ in 0..ROUNDS {
        for (_, command, times) in &mut servers {
            round(command, times);
        }
    }

    print!("{:<10} {:>9}", "", "start");
    for window in WINDOWS {
        print!(" {:>14}", format!("{window} at a time"));
        print!(" {:>8} {:>8} {:>8}", "p50", "p99", "CPU");
    }
    println!();
    for (name, _, times) in &servers {
        println!("{name:<10} {times}");
    }
    if let Some(((base, _, of_base), others)) = servers.split_last() {
        for (name, _, times) in others {
            println!(
                "{name} compared with {base}: {}",
                times.compared_with(of_base)
            );
        }
    }
}

fn round(command: &str, times: &mut Times) {
    let mut client = Client::start(command);
    times.start.push(client.start);

    // Servers that compile their code while it runs get the time for it.
    client.thoughts(1, THOUGHTS, 1);
    for (window, part) in WINDOWS.into_iter().zip(&mut times.parts) {
        let thoughts = if window == 1 { THOUGHTS } else { THOUGHTS * 2 };
        part.add(client.thoughts(1, thoughts, window));
    }
}
