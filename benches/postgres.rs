//! How long recording a step takes in PostgreSQL, compared with a bare insert in the same server.
//!
//! ```console
//! $ eval "$(scripts/local-postgres start)"
//! $ cargo bench -p cogwork-benches --bench postgres
//! ```

use std::env;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cogwork_benches::{BoxError, print, quartiles, rounds};
use cogwork_flow::{Action, Flow, from_phases};
use cogwork_journal::PostgresStore;
use tokio_postgres::{Client, NoTls, Statement};

const SCHEMA: &str = "bench";
const STEPS: u32 = 100;
const ROUNDS: u32 = 31;

/// A flow whose steps are recorded, and a statement that inserts a row in a transaction of its own.
struct Bench<'a> {
    client: &'a Client,
    insert: Statement,
    store: PostgresStore,
    flow: Flow<u32>,
    text: Arc<str>,
}

impl<'a> Bench<'a> {
    async fn new(url: &str, client: &'a Client, bytes: usize) -> Result<Self, BoxError> {
        let text: Arc<str> = "thought ".repeat(bytes / 8).into();
        let sql = format!("INSERT INTO {SCHEMA}.bare (run, number, line) VALUES ($1, $2, $3)");

        Ok(Self {
            insert: client.prepare(&sql).await?,
            client,
            store: PostgresStore::new(url)?.with_schema(SCHEMA),
            flow: texts(&text)?,
            text,
        })
    }

    async fn insert(&self) -> Result<Duration, BoxError> {
        let truncate = format!("TRUNCATE {SCHEMA}.bare");
        self.client.batch_execute(&truncate).await?;

        let started = Instant::now();
        for number in 0..i64::from(STEPS) {
            self.client
                .execute(&self.insert, &[&1_i64, &number, &&*self.text])
                .await?;
        }
        Ok(started.elapsed())
    }

    async fn record(&self, round: u32) -> Result<Duration, BoxError> {
        // The last step is recorded together with the end of the run, and isn't counted.
        let run_id = format!("{} {round}", self.text.len());
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

/// Returns a loop whose `exec` returns a text.
fn texts(text: &Arc<str>) -> Result<Flow<u32>, BoxError> {
    let text = Arc::clone(text);
    let node = from_phases(
        |_: &mut u32| (),
        move |()| {
            let text = Arc::clone(&text);
            async move { Ok::<_, io::Error>(text) }
        },
        |left, _| {
            *left -= 1;
            Action::from_static(if *left == 0 { "stop" } else { "again" })
        },
    );

    Ok(Flow::builder("texts")
        .start("text")
        .node("text", node.with_actions(["again", "stop"]))
        .edge("text", "again", "text")
        .end("text", "stop")
        .build()?)
}

async fn compare(url: &str, client: &Client, bytes: usize) -> Result<(), BoxError> {
    let bench = Bench::new(url, client, bytes).await?;
    let mut quotients = Vec::new();
    let mut shortest = Duration::MAX;

    for round in 0..rounds(ROUNDS) {
        let insert = bench.insert().await?;
        let record = bench.record(round).await?;
        quotients.push(record.as_secs_f64() / insert.as_secs_f64());
        shortest = shortest.min(record / STEPS);
    }

    let [low, median, high] = quartiles(quotients);
    print(
        &format!("{bytes} bytes: a recorded step / a bare insert"),
        format_args!("{median:.2} ({low:.2} to {high:.2}; {shortest:.1?})"),
    );
    Ok(())
}

async fn measure(url: &str) -> Result<(), BoxError> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    let tables = format!(
        "DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA};
         CREATE TABLE {SCHEMA}.bare (run bigint, number bigint, line text, PRIMARY KEY (run, number))"
    );
    client.batch_execute(&tables).await?;

    for bytes in [512, 10_240] {
        compare(url, &client, bytes).await?;
    }

    let drop = format!("DROP SCHEMA {SCHEMA} CASCADE");
    Ok(client.batch_execute(&drop).await?)
}

fn main() -> Result<(), BoxError> {
    let Ok(url) = env::var("COGWORK_TEST_POSTGRES") else {
        println!(
            "skipped: COGWORK_TEST_POSTGRES isn't set; run: eval \"$(scripts/local-postgres start)\""
        );
        return Ok(());
    };

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(measure(&url))
}
