//! Simulated workers, of which each may fail at any time. `COGWORK_SIMULATION_SEED=7` repeats the
//! simulation with that seed, and `COGWORK_SIMULATION_SEEDS=100` tries that many seeds.

use std::sync::Arc;
use std::time::Duration;

use crate::model::{Guard, Limits};
use crate::mutex::lock;
use crate::process::{LEASE, Process};
use crate::worker::work;
use crate::world::{Scale, Seen, World};

const THOUSAND: Scale = Scale {
    workers: 1_000,
    runs: 1_200,
    steps: 5,
    limits: None,
};
const SMALL: Scale = Scale {
    workers: 30,
    runs: 60,
    steps: 8,
    limits: None,
};

/// Fewer runs may run at once than there are workers.
const LIMITED: Scale = Scale {
    limits: Some(Limits {
        running: Some(12),
        per_key: Some(3),
    }),
    ..SMALL
};

/// The simulated time after which all runs must have ended.
const PATIENCE: Duration = Duration::from_secs(4 * 3_600);

/// Runs a simulation in paused time.
fn simulate(seed: u64, scale: Scale, guard: Guard) -> Seen {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();

    runtime.block_on(async {
        let world = World::new(seed, scale, guard);
        for number in 0..scale.workers {
            tokio::spawn(live(Arc::clone(&world), number));
        }
        tokio::spawn(restart_server(Arc::clone(&world)));

        while !world.is_over() && world.now() < PATIENCE {
            tokio::time::sleep(Duration::from_secs(10)).await;
        }

        if !world.is_over() {
            world.violated("not all runs have ended".to_owned());
        }

        // Messages that are still on their way arrive, too.
        tokio::time::sleep(4 * LEASE).await;
        world.check_record();
        let seen = lock(&world.seen).clone();
        println!("seed {seed}: {}", summary(&seen, &world));
        seen
    })
}

fn summary(seen: &Seen, world: &World) -> String {
    let Scale { workers, runs, .. } = world.scale;
    format!(
        "{workers} workers, {runs} runs, {:.0?} simulated; {} crashes, {} suspensions, {} restarts of the \
         server, {} of {} requests lost; {} claims, {} calls ({} while the run was given to somebody \
         else), {} writes refused; {} violations",
        world.now(),
        seen.crashes,
        seen.pauses,
        seen.restarts,
        seen.lost_messages,
        seen.requests,
        seen.claims,
        seen.calls,
        seen.late_calls,
        seen.refused_writes,
        seen.violations.len()
    )
}

/// A worker that crashes and is suspended now and then. After a crash, another one takes its place.
async fn live(world: Arc<World>, number: usize) {
    for life in 0.. {
        let process = Process::start(&world, format!("worker {number}.{life}"));
        let working = tokio::spawn(work(Arc::clone(&process)));

        while !world.happens(0.3) {
            tokio::time::sleep(world.within(200.0)).await;
            world.count(|seen| seen.pauses += 1);
            process
                .life
                .suspend(world.within(3.0 * LEASE.as_secs_f64()));
        }

        tokio::time::sleep(world.within(200.0)).await;
        world.count(|seen| seen.crashes += 1);
        process.life.end();
        working.abort();
        tokio::time::sleep(world.within(20.0)).await;
    }
}

async fn restart_server(world: Arc<World>) {
    loop {
        tokio::time::sleep(world.within(240.0)).await;
        let down = world.within(20.0);
        let mut network = lock(&world.network);
        network.restarts += 1;
        network.down_until = world.now() + down;

        drop(network);
        world.count(|seen| seen.restarts += 1);
    }
}

/// The seeds to try.
pub(crate) fn seeds(default: u64) -> Vec<u64> {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    if let Some(seed) = number("COGWORK_SIMULATION_SEED") {
        return vec![seed];
    }

    let seeds = number("COGWORK_SIMULATION_SEEDS").unwrap_or(default);
    (1..=seeds).collect()
}

/// Simulates with each seed. Nothing that must not happen may happen.
fn holds(scale: Scale, seeds: Vec<u64>) {
    for seed in seeds {
        let seen = simulate(seed, scale, Guard::FULL);
        let first: Vec<_> = seen.violations.iter().take(5).collect();
        assert!(
            first.is_empty(),
            "repeat this with COGWORK_SIMULATION_SEED={seed}: {first:#?}"
        );

        // Otherwise, it would not have been hard enough.
        assert!(seen.crashes > 0 && seen.refused_writes > 0 && seen.late_calls > 0);
    }
}

#[test]
fn a_thousand_workers_record_each_step_once() {
    holds(THOUSAND, seeds(1));
}

#[test]
fn each_step_is_recorded_once_with_many_seeds() {
    holds(SMALL, seeds(20));
}

#[test]
fn a_seed_repeats_a_simulation() {
    let first = simulate(3, SMALL, Guard::FULL);
    assert_eq!(first, simulate(3, SMALL, Guard::FULL));
}

#[test]
fn limits_are_never_exceeded() {
    holds(LIMITED, seeds(20));
}

/// Simulates without a part of what protects the record, until something happens that must not.
fn is_noticed(scale: Scale, guard: Guard) -> Option<String> {
    let mut violations = (1..=20).flat_map(|seed| simulate(seed, scale, guard).violations);
    violations.next()
}

#[test]
fn a_missing_fence_is_noticed() {
    let guard = Guard {
        fence: false,
        ..Guard::FULL
    };
    let noticed = is_noticed(SMALL, guard).unwrap();
    assert!(noticed.contains("was given out"), "{noticed}");
}

#[test]
fn a_missing_comparison_of_the_versions_is_noticed() {
    let guard = Guard {
        version: false,
        ..Guard::FULL
    };
    let noticed = is_noticed(SMALL, guard).unwrap();
    let is_out_of_place = noticed.contains("out of place") || noticed.contains("on record twice");
    assert!(is_out_of_place, "{noticed}");
}

#[test]
fn a_line_with_the_same_number_is_noticed() {
    let guard = Guard {
        numbers: false,
        ..Guard::FULL
    };
    let noticed = is_noticed(SMALL, guard).unwrap();
    assert!(noticed.contains("on record twice"), "{noticed}");
}

#[test]
fn a_limit_that_ignores_expired_leases_is_noticed() {
    let guard = Guard {
        expired: false,
        ..Guard::FULL
    };
    let noticed = is_noticed(LIMITED, guard).unwrap();
    assert!(noticed.contains("are running"), "{noticed}");
}
