//! Steps that are recorded, and bare inserts.

use std::time::{Duration, Instant};

use cogwork_benches::{BoxError, print, texts};
use cogwork_flow::Flow;
use cogwork_journal::PostgresStore;
use tokio_postgres::{Client, Statement};

use crate::{SCHEMA, Server, rounds};

const STEPS: u32 = 100;
const ROUNDS: u32 = 31;

/// A flow whose steps are recorded, and a statement that inserts a row in a transaction of its own.
struct Bench {
    client: Client,
    insert: Statement,
    store: PostgresStore,
    flow: Flow<u32>,
    bytes: usize,
}

impl Bench {
    async fn new(server: &Server, bytes: usize) -> Result<Self, BoxError> {
        let client = server.connect().await?;
        let sql = format!("INSERT INTO {SCHEMA}.bare (run, number, line) VALUES ($1, $2, $3)");

        Ok(Self {
            insert: client.prepare(&sql).await?,
            client,
            store: PostgresStore::new(&server.url)?
                .with_schema(SCHEMA)
                .with_max_connections(8),
            flow: texts(bytes)?,
            bytes,
        })
    }

    async fn insert(&self) -> Result<Duration, BoxError> {
        let line = "thought ".repeat(self.bytes / 8);
        let truncate = format!("TRUNCATE {SCHEMA}.bare");
        self.client.batch_execute(&truncate).await?;

        let started = Instant::now();
        for number in 0..i64::from(STEPS) {
            self.client
                .execute(&self.insert, &[&1_i64, &number, &line])
                .await?;
        }
        Ok(started.elapsed())
    }

    async fn record(&self, round: u32) -> Result<Duration, BoxError> {
        // The last step is recorded together with the end of the run, and isn't counted.
        let run_id = format!("{} {round}", self.bytes);
        let journal = self.store.start(&run_id, &self.flow, &(STEPS + 1)).await?;
        let mut left: u32 = journal.state()?;
        let mut run = self.flow.begin().with_journal(journal);

        let started = Instant::now();
        for _ in 0..STEPS {
            run.step(&mut left).await?;
        }
        Ok(started.elapsed())
    }
}

/// Compares a recorded step with a bare insert, in turn.
pub(crate) async fn compare(server: &Server, bytes: usize) -> Result<(), BoxError> {
    let bench = Bench::new(server, bytes).await?;
    let [mut inserts, mut records] = [Vec::new(), Vec::new()];
    let per_step = |took: Duration| took.as_secs_f64() / f64::from(STEPS);

    for round in 0..rounds(ROUNDS) {
        inserts.push(per_step(bench.insert().await?));
        records.push(per_step(bench.record(round).await?));
    }

    let ratios = records.iter().zip(&inserts);
    let [low, median, high] = quartiles(ratios.map(|(record, insert)| record / insert).collect());
    let [insert, record] = [inserts, records].map(|times| quartiles(times)[1] * 1e6);
    print(
        &format!("{bytes} bytes: a recorded step / a bare insert"),
        format_args!(
            "{median:.2} ({low:.2} to {high:.2}; medians: {record:.0} µs, {insert:.0} µs)"
        ),
    );
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
