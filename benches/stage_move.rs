//! A stage move in sessions of different lengths, with forks and refusals, and what a thought takes in memory.

use std::time::{Duration, Instant};

use cogwork_benches::{BoxError, criterion, print, ratio};
use cogwork_strategies::{Session, Stage, StrategyName, ThoughtDraft, ThoughtId};
use criterion::BatchSize;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const SMALL: usize = 10;
const LARGE: usize = 10_000;
/// Moves that are timed together, on top of those of the session; an odd number of rounds of the cycle.
const MOVES: usize = 100;
const TEXT: &str =
    "The observation says that the train left at eight, so it has been on its way for two hours.";

/// The next thought of a ReAct session that never comes to an end.
fn next(session: &Session) -> ThoughtDraft {
    let draft = |stage: &Stage| match stage.name() {
        "action_planning" => ThoughtDraft::at(stage.name(), TEXT).with("action", "search"),
        "observation_reception" => {
            ThoughtDraft::at(stage.name(), TEXT).with("observation", "eight o'clock")
        }
        name => ThoughtDraft::at(name, TEXT),
    };

    let allowed = session.allowed(session.current()).unwrap_or_default();
    allowed
        .first()
        .map_or_else(|| ThoughtDraft::here(TEXT), |stage| draft(stage))
}

fn session(thoughts: usize) -> Result<Session, BoxError> {
    let mut session = Session::new(StrategyName::React);
    moves(&mut session, thoughts)?;
    Ok(session)
}

fn moves(session: &mut Session, count: usize) -> Result<(), BoxError> {
    for _ in 0..count {
        session.think(next(session))?;
    }
    Ok(())
}

/// The time of `MOVES` moves behind so many thoughts. The sessions are made beforehand.
fn behind(thoughts: usize, work: impl Fn(&mut Session) -> Result<(), BoxError>) -> Duration {
    let mut sessions: Vec<Session> = (0..20).filter_map(|_| session(thoughts).ok()).collect();
    let begun = Instant::now();
    let done = sessions.iter_mut().try_for_each(work);
    let time = begun.elapsed();

    // A time of nothing stands out in every ratio.
    if done.is_ok() { time } else { Duration::ZERO }
}

fn main() -> Result<(), BoxError> {
    let mut criterion = criterion();
    let mut group = criterion.benchmark_group("stage_move");
    group.throughput(criterion::Throughput::Elements(MOVES as u64));

    for thoughts in [SMALL, LARGE] {
        group.sample_size(20).bench_function(
            format!("100 moves behind {thoughts} thoughts"),
            |b| {
                b.iter_batched_ref(
                    || session(thoughts),
                    |s| s.as_mut().map(|s| moves(s, MOVES)).is_ok(),
                    BatchSize::LargeInput,
                )
            },
        );
    }

    group.finish();

    ratio(
        "a move behind 10,000 thoughts / behind 10",
        || behind(LARGE, |s| moves(s, MOVES)),
        || behind(SMALL, |s| moves(s, MOVES)),
    );

    let fork = |session: &mut Session| -> Result<(), BoxError> {
        for name in 0..MOVES {
            session.fork(ThoughtId::new(5), name.to_string())?;
        }
        Ok(())
    };

    ratio(
        "a fork behind 10,000 thoughts / behind 10",
        || behind(LARGE, fork),
        || behind(SMALL, fork),
    );

    let refused = |session: &mut Session| -> Result<(), BoxError> {
        let refusals = (0..MOVES).filter(|_| {
            session
                .think(ThoughtDraft::at("final_response", TEXT))
                .is_err()
        });
        if refusals.count() == MOVES {
            Ok(())
        } else {
            Err("a move was not refused".into())
        }
    };

    ratio(
        "a refusal behind 10,000 thoughts / behind 10",
        || behind(LARGE, refused),
        || behind(SMALL, refused),
    );

    for (what, thoughts) in [("1,000", 1_000), ("10,000", LARGE)] {
        let before = MEMORY.current_usage();
        let held = session(thoughts)?;
        let bytes = (MEMORY.current_usage() - before) / thoughts;
        drop(held);
        let told = format!("{bytes} bytes, {} of them text", TEXT.len());

        print(&format!("memory of a thought in a session of {what}"), told);
    }

    criterion.final_summary();
    Ok(())
}
