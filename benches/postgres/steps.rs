//! Steps that are recorded in several ways.

use std::time::{Duration, Instant};

use cogwork_benches::{BoxError, print, texts};
use cogwork_flow::Flow;
use cogwork_journal::{PostgresStore, Store};
use tokio_postgres::{Client, Statement};

use crate::graph_flow::{Keeps, Peer};
use crate::{SCHEMA, Server, rounds};

const STEPS: u32 = 100;
const ROUNDS: u32 = 31;

/// What is done for each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// A row is inserted, in a transaction of its own.
    Insert,
    /// A flow records a step.
    Record,
    /// graph-flow saves a session.
    Save(Keeps),
}

impl Work {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Insert => "a bare insert",
            Self::Record => "a recorded step",
            Self::Save(Keeps::Last) => "graph-flow, with the last text",
            Self::Save(Keeps::All) => "graph-flow, with all texts",
        }
    }
}

/// Everything that can do the work, connected to the same server.
pub(crate) struct Bench {
    client: Client,
    insert: Statement,
    store: PostgresStore,
    flow: Flow<u32>,
    pub(crate) peer: Option<Peer>,
    bytes: usize,
    runs: u32,
}

impl Bench {
    pub(crate) async fn new(server: &Server, bytes: usize) -> Result<Self, BoxError> {
        let client = server.connect().await?;
        let sql = format!("INSERT INTO {SCHEMA}.bare (run, number, line) VALUES ($1, $2, $3)");

        Ok(Self {
            insert: client.prepare(&sql).await?,
            client,
            store: PostgresStore::new(&server.url)?
                .with_schema(SCHEMA)
                .with_max_connections(8),
            flow: texts(bytes)?,
            peer: Peer::start(server)?,
            bytes,
            runs: 0,
        })
    }

    /// Returns all kinds of work that can be done here.
    pub(crate) fn works(&self) -> Vec<Work> {
        let mut works = vec![Work::Insert, Work::Record];
        if self.peer.is_some() {
            works.extend([Keeps::Last, Keeps::All].map(Work::Save));
        }

        works
    }

    /// Does the work for this many steps of a new run, and returns how long it took.
    pub(crate) async fn execute(&mut self, work: Work, steps: u32) -> Result<Duration, BoxError> {
        self.runs += 1;

        match (work, &mut self.peer) {
            (Work::Insert, _) => self.insert(steps).await,
            (Work::Record, _) => self.record(steps).await,
            (Work::Save(keeps), Some(peer)) => {
                let id = format!("{} {}", self.bytes, self.runs);
                peer.execute(&id.replace(' ', "-"), steps, self.bytes, keeps)
            }
            (Work::Save(_), None) => Err("graph-flow isn't built".into()),
        }
    }

    async fn insert(&self, steps: u32) -> Result<Duration, BoxError> {
        let line = "thought ".repeat(self.bytes / 8);
        let truncate = format!("TRUNCATE {SCHEMA}.bare");
        self.client.batch_execute(&truncate).await?;

        let started = Instant::now();
        for number in 0..i64::from(steps) {
            self.client
                .execute(&self.insert, &[&1_i64, &number, &line])
                .await?;
        }
        Ok(started.elapsed())
    }

    async fn record(&self, steps: u32) -> Result<Duration, BoxError> {
        // The last step is recorded together with the end of the run, and isn't counted.
        let run_id = format!("{} {}", self.bytes, self.runs);
        let journal = self.store.start(&run_id, &self.flow, &(steps + 1)).await?;
        let mut left: u32 = journal.state()?;
        let mut run = self.flow.begin().with_journal(journal);

        let started = Instant::now();
        for _ in 0..steps {
            run.step(&mut left).await?;
        }
        Ok(started.elapsed())
    }
}

/// Compares everything with a bare insert, in turn.
pub(crate) async fn compare(server: &Server, bytes: usize) -> Result<(), BoxError> {
    let mut bench = Bench::new(server, bytes).await?;
    let works = bench.works();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); works.len()];

    for round in 0..rounds(ROUNDS) {
        let mut order: Vec<_> = works.iter().zip(&mut times).collect();
        if round % 2 == 1 {
            order.reverse();
        }

        for (work, times) in order {
            let took = bench.execute(*work, STEPS).await?;
            times.push(took.as_secs_f64() / f64::from(STEPS));
        }
    }

    let Some((bare, others)) = times.split_first() else {
        return Ok(());
    };
    for (work, times) in works.iter().skip(1).zip(others) {
        let ratios = times.iter().zip(bare).map(|(time, bare)| time / bare);
        let [low, median, high] = quartiles(ratios.collect());
        let micros = |times: &[f64]| quartiles(times.to_vec())[1] * 1e6;
        print(
            &format!("{bytes} bytes: {} / a bare insert", work.name()),
            format_args!(
                "{median:.2} ({low:.2} to {high:.2}; medians: {:.0} µs, {:.0} µs)",
                micros(times),
                micros(bare)
            ),
        );
    }
    Ok(())
}

fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let quartile = |number: usize| {
        let index = values.len().saturating_sub(1) * number / 4;
        values.get(index).copied().unwrap_or(f64::NAN)
    };
    [quartile(1), quartile(2), quartile(3)]
}
