//! A simulated worker: it takes runs and executes them with the code of the library.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::model::{Claimed, Line};
use crate::process::{Change, Process};
use crate::protocol::server::Clock as _;
use crate::protocol::{self, Lease, LeaseWatch, Server as _, Taking, Verdict, WriteError};

/// How many runs a worker executes at the same time.
const CONCURRENCY: usize = 2;
const POLL: std::time::Duration = std::time::Duration::from_secs(20);

/// Takes runs for as long as the process lives.
pub(crate) async fn work(process: Arc<Process>) {
    let mut taking = Taking::new(Arc::clone(&process), POLL);
    let mut runs = JoinSet::new();

    loop {
        while runs.try_join_next().is_some() {}
        let round = taking.round(&(), CONCURRENCY - runs.len()).await;

        for claimed in round.claimed {
            process.world.count(|seen| seen.claims += 1);
            let lease = process.keep(claimed.held);
            runs.spawn(execute(Arc::clone(&process), claimed, lease));
        }

        let clock = process.clock();
        tokio::select! {
            biased;
            Some(_) = runs.join_next() => {}
            () = clock.sleep(round.pause) => {}
        }
    }
}

/// Executes a run from the step after the last one on record.
async fn execute(process: Arc<Process>, claimed: Claimed, lease: Lease<Process>) {
    let watch = lease.watch();
    let verdict = steps(&process, claimed, &watch).await;
    process.life.goes_on().await;

    watch.set_verdict(verdict);
    drop(lease);
    process.leases.ended(claimed.held).await;
}

async fn steps(process: &Process, claimed: Claimed, watch: &LeaseWatch) -> Verdict {
    let Claimed { held, lines, .. } = claimed;
    let mut row_state = claimed.row;
    let world = &process.world;
    let read = process.request(move |model, _| model.row(held.key).clone());
    let Ok(row) = read.await else {
        return Verdict::Interrupted;
    };
    if row.fence == held.fence && row.lines.len() != lines {
        world.violated(format!("run {}: it changed after it was taken", held.key));
        return Verdict::Interrupted;
    }

    let mut before = lines;
    for step in row.record().count()..world.scale.steps {
        if process.has_newer(held) && !watch.lost.is_cancelled() {
            world.violated(format!("run {}: twice at work in one process", held.key));
        }

        let call = world.begin_call();
        let seconds = world.within(20.0);
        let clock = process.clock();
        tokio::select! {
            biased;
            () = watch.lost.cancelled() => return Verdict::Interrupted,
            () = clock.sleep(seconds) => {}
        }
        world.end_call(held);
        if world.happens(0.02) {
            return Verdict::Failed("the call failed".to_owned());
        }

        let fence = held.fence;
        let line = Line { step, call, fence };
        let ends = step + 1 == world.scale.steps;
        let change = Change {
            held,
            row: row_state,
            before,
            line,
            ends,
            folds: world.happens(0.3),
        };
        match protocol::write(process, &change).await {
            Ok(()) => world.confirm(held.key, line),
            Err(WriteError::Refused) => {
                world.count(|seen| seen.refused_writes += 1);
                return Verdict::Interrupted;
            }
            Err(WriteError::Failed(_)) => return Verdict::Interrupted,
        }
        before = change.after();
        row_state = change.row_after();
    }

    Verdict::OnRecord
}
