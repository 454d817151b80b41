//! The statements of the library and the model make the same decisions, whatever happens in which
//! order. Needs a server: `eval "$(scripts/local-postgres start)"`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use cogwork_flow::{Flow, from_fn};
use cogwork_journal::{Enqueue, PostgresStore};
use fastrand::Rng;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row as SqlRow};

use crate::model::{Claimed, Guard, Limits, Line, Model, Row, RowState, Status, Taker, Time};
use crate::protocol::statements::{
    APPEND, CHANGE, CLAIM, CLAIM_LIMITED, NEXT_DUE, RELEASE, RENEW, TAKE, WAKE_DUE, WRITTEN,
};
use crate::protocol::{Held, Verdict, Written};

const RUNS: i64 = 5;
const OPERATIONS: usize = 80;
const LEASE: Duration = Duration::from_secs(301);
const RETRIES: [Duration; 2] = [Duration::from_secs(103), Duration::from_secs(211)];

/// The time that the statements themselves may take is less than this.
const TOLERANCE: f64 = 30.0;

/// The tables and their model.
struct Both {
    seed: u64,
    client: Client,
    schema: String,
    flow: String,
    shape: i64,
    model: Model,
    now: Time,
    rng: Rng,
    /// All leases that were ever given out.
    leases: Vec<Held>,
    done: Vec<String>,
}

/// What a change is made to: the lease, the version, and the number of lines before that.
#[derive(Debug)]
struct Change {
    held: Held,
    version: i64,
    before: usize,
}

#[test]
fn the_statements_decide_as_the_model_does() {
    let Ok(url) = std::env::var("COGWORK_TEST_POSTGRES") else {
        eprintln!("skipped, because COGWORK_TEST_POSTGRES isn't set");
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();

    for seed in crate::simulation::seeds(12) {
        runtime.block_on(async {
            let mut both = Both::new(seed, &url).await;
            for _ in 0..OPERATIONS {
                both.operate().await;
                both.compare().await;
            }
            both.execute("DROP SCHEMA @ CASCADE").await;
        });
    }
}

fn flow() -> Flow<u32> {
    let flow = Flow::builder("counted")
        .start("one")
        .node("one", from_fn(|_: &mut u32| ()));
    flow.end("one", "default").build().unwrap()
}

impl Both {
    async fn new(seed: u64, url: &str) -> Self {
        let schema = format!("model_{}_{seed}", std::process::id());
        let store = PostgresStore::new(url).unwrap().with_schema(&schema);
        for number in 0..RUNS {
            let priority = i32::try_from(number % 2).unwrap();
            let settings = Enqueue::new().with_priority(priority);
            let settings = match number {
                0..2 => settings.with_key("first"),
                2..4 => settings.with_key("second"),
                _ => settings,
            };
            let run_id = number.to_string();
            store.enqueue(&run_id, &flow(), &0, settings).await.unwrap();
        }

        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        tokio::spawn(connection);
        let sql = format!("SELECT key, priority, flow, shape, limit_key FROM {schema}.runs");
        let found = client.query(&sql, &[]).await.unwrap();
        let rows = found.iter().map(|row| {
            let queued = Row::queued(row.get(1), Time::ZERO);
            let lines = vec![Line::FIRST];
            let run = Row {
                limit_key: row.get(4),
                known: 1,
                lines,
                ..queued
            };
            (row.get::<_, i64>(0), run)
        });

        Self {
            seed,
            schema,
            flow: found[0].get(2),
            shape: found[0].get(3),
            model: Model::new(rows.collect(), RETRIES.to_vec(), Guard::FULL),
            client,
            now: Time::ZERO,
            rng: Rng::with_seed(seed),
            leases: Vec::new(),
            done: Vec::new(),
        }
    }

    async fn query(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Vec<SqlRow> {
        let sql = sql.replace("@.", &format!("{}.", self.schema));
        let found = self.client.query(&sql, values).await;
        found.unwrap_or_else(|error| self.fail(format_args!("{error:?}")))
    }

    /// Executes a statement that may be refused. Returns whether it changed anything.
    async fn change(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> bool {
        let sql = sql.replace("@.", &format!("{}.", self.schema));
        match self.client.execute(&sql, values).await {
            Ok(changed) => changed > 0,
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => false,
            Err(error) => self.fail(format_args!("{error:?}")),
        }
    }

    async fn execute(&self, sql: &str) {
        let sql = sql.replace('@', &self.schema);
        self.client.batch_execute(&sql).await.unwrap();
    }

    fn fail(&self, what: std::fmt::Arguments<'_>) -> ! {
        let seed = self.seed;
        let done = self.done.join("\n");
        unreachable!("repeat this with COGWORK_SIMULATION_SEED={seed}:\n{done}\n{what}")
    }

    fn same<T: PartialEq + Debug>(&self, what: &str, table: &T, model: &T) {
        if table != model {
            self.fail(format_args!("{what}: {table:?}, the model: {model:?}"));
        }
    }

    fn did(&mut self, what: impl Debug) {
        self.done.push(format!("{what:?}"));
    }

    /// Does something at random, in the tables and in the model.
    async fn operate(&mut self) {
        match self.rng.u8(..100) {
            0..15 => self.pass_time().await,
            15..23 => self.claim().await,
            23..30 => self.claim_limited().await,
            30..40 => self.take().await,
            40..50 => self.wake_due().await,
            50..60 => self.renew().await,
            60..75 => self.release().await,
            75..88 => self.append().await,
            88..94 => self.edit().await,
            _ => self.set_status().await,
        }
    }

    fn a_key(&mut self) -> i64 {
        let index = self.rng.usize(..self.model.rows().len());
        *self.model.rows().keys().nth(index).unwrap()
    }

    /// Returns a lease that may have been lost, mostly the last one on its run.
    fn a_lease(&mut self) -> Held {
        let key = self.a_key();
        let newest = self.model.row(key).fence;
        let older = self.leases.iter().filter(|held| held.key == key);
        let older: Vec<_> = older.copied().collect();
        match self.rng.choice(&older) {
            Some(held) if self.rng.bool() => *held,
            _ => Held { key, fence: newest },
        }
    }

    fn a_worker(&mut self) -> &'static str {
        ["first", "second"][self.rng.usize(..2)]
    }

    /// Lets time pass, by setting all times back. None of them may be so close to the current time
    /// that it depends on how long the statements take.
    async fn pass_time(&mut self) {
        let mut seconds = self.rng.choice([37_u64, 149, 307]).unwrap();
        while self.is_close(seconds) {
            seconds += 10;
        }

        self.did(("pass", seconds));
        self.now += Duration::from_secs(seconds);
        self.execute(&format!(
            "UPDATE @.runs SET wake = wake - interval '{seconds} s';
             UPDATE @.waits SET until = until - {seconds} * 1000"
        ))
        .await;
    }

    fn is_close(&self, seconds: u64) -> bool {
        let now = (self.now + Duration::from_secs(seconds)).as_secs_f64();
        let rows = self.model.rows().values();
        let until = rows.clone().filter_map(|row| match row.status {
            Status::Paused(until) => until,
            _ => None,
        });
        let mut times = rows.filter_map(|row| row.wake).chain(until);
        times.any(|time| (time.as_secs_f64() - now).abs() < 2.0 * TOLERANCE)
    }

    async fn claimed(&self, rows: &[SqlRow]) -> Vec<Claimed> {
        let mut claimed = Vec::new();
        for row in rows {
            let key: i64 = row.get("key");
            let count = "SELECT count(*) FROM @.lines WHERE run = $1";
            let lines: i64 = self.query(count, &[&key]).await[0].get(0);
            claimed.push(Claimed {
                held: Held {
                    key,
                    fence: row.get("fence"),
                },
                row: RowState {
                    version: row.get("version"),
                    has_failures: row.get("has_failures"),
                },
                lines: usize::try_from(lines).unwrap(),
            });
        }

        claimed.sort_by_key(|claimed| claimed.held.key);
        claimed
    }

    fn keep(&mut self, claimed: &[Claimed]) {
        self.leases
            .extend(claimed.iter().map(|claimed| claimed.held));
    }

    async fn claim(&mut self) {
        let worker = self.a_worker();
        let most = self.rng.i64(1..3);
        self.did(("claim", worker, most));

        let queues = [Enqueue::DEFAULT_QUEUE];
        let flows = [&self.flow];
        let shapes = [self.shape];
        let lease = LEASE.as_secs_f64();
        let values: [&(dyn ToSql + Sync); 6] = [
            &worker,
            &lease,
            &queues.as_slice(),
            &flows.as_slice(),
            &shapes.as_slice(),
            &most,
        ];
        let table = self.claimed(&self.query(CLAIM, &values).await).await;

        let taker = Taker {
            worker,
            lease: LEASE,
        };
        let most = usize::try_from(most).unwrap();
        let mut model = self.model.claim(taker, most, self.now);
        model.sort_by_key(|claimed| claimed.held.key);
        self.same("claimed", &table, &model);
        self.keep(&model);
    }

    async fn claim_limited(&mut self) {
        let worker = self.a_worker();
        let most = self.rng.i64(1..4);
        let running = self.rng.choice([None, Some(1), Some(2), Some(3)]).unwrap();
        let per_key = self.rng.choice([None, Some(1), Some(2)]).unwrap();
        self.did(("claim_limited", worker, most, running, per_key));

        let flows = [&self.flow];
        let shapes = [self.shape];
        let lease = LEASE.as_secs_f64();
        let values: [&(dyn ToSql + Sync); 8] = [
            &worker,
            &lease,
            &Enqueue::DEFAULT_QUEUE,
            &flows.as_slice(),
            &shapes.as_slice(),
            &most,
            &running,
            &per_key,
        ];
        let table = self
            .claimed(&self.query(CLAIM_LIMITED, &values).await)
            .await;

        let taker = Taker {
            worker,
            lease: LEASE,
        };
        let number = |limit: i64| usize::try_from(limit).unwrap();
        let limits = Limits {
            running: running.map(number),
            per_key: per_key.map(number),
        };
        let mut model = self
            .model
            .claim_limited(taker, number(most), limits, self.now);
        model.sort_by_key(|claimed| claimed.held.key);
        self.same("claimed with limits", &table, &model);
        self.keep(&model);
    }

    async fn take(&mut self) {
        let worker = self.a_worker();
        let key = self.a_key();
        self.did(("take", worker, key));

        let id = "SELECT id FROM @.runs WHERE key = $1";
        let id: String = self.query(id, &[&key]).await[0].get(0);
        let lease = LEASE.as_secs_f64();
        let taken = self.query(TAKE, &[&id, &worker, &lease]).await;
        let table = self.claimed(&taken).await;

        let taker = Taker {
            worker,
            lease: LEASE,
        };
        let model = self.model.take(key, taker, self.now);
        let model: Vec<_> = model.into_iter().collect();
        self.same("taken", &table, &model);
        self.keep(&model);
    }

    fn delays() -> Vec<f64> {
        RETRIES.iter().map(Duration::as_secs_f64).collect()
    }

    async fn wake_due(&mut self) {
        self.did("wake_due");
        self.query(WAKE_DUE, &[&Self::delays(), &"model"]).await;
        self.model.wake_due(self.now);

        let next = self.query(NEXT_DUE, &[]).await;
        let table: Option<f64> = next[0].get(0);
        let model = self.model.next_due(self.now);
        if !is_near(table, model) {
            self.fail(format_args!("next due: {table:?}, the model: {model:?}"));
        }
    }

    async fn renew(&mut self) {
        let leases: BTreeMap<_, _> = [self.a_lease(), self.a_lease()]
            .map(|held| (held.key, held))
            .into();
        let leases: Vec<_> = leases.into_values().collect();
        self.did(("renew", &leases));

        let keys: Vec<_> = leases.iter().map(|held| held.key).collect();
        let fences: Vec<_> = leases.iter().map(|held| held.fence).collect();
        let lease = LEASE.as_secs_f64();
        let renewed = self.query(RENEW, &[&keys, &fences, &lease]).await;
        let mut table: Vec<i64> = renewed.iter().map(|row| row.get(0)).collect();
        table.sort_unstable();

        let model = self.model.renew(&leases, LEASE, self.now);
        self.same("renewed", &table, &model);
    }

    async fn release(&mut self) {
        let held = self.a_lease();
        let verdict = match self.rng.u8(..3) {
            0 => Verdict::OnRecord,
            1 => Verdict::Interrupted,
            _ => Verdict::Failed("it failed".to_owned()),
        };
        self.did(("release", held, &verdict));

        let interrupted = verdict.is_interrupted();
        let failure = verdict.failure();
        let values: [&(dyn ToSql + Sync); 6] = [
            &held.key,
            &held.fence,
            &interrupted,
            &failure,
            &Self::delays(),
            &"model",
        ];
        self.query(RELEASE, &values).await;
        self.model.release(held, &verdict, self.now);
    }

    /// Returns a change of a run, mostly one of what is there.
    fn a_change(&mut self) -> Change {
        let held = self.a_lease();
        let row = self.model.row(held.key);
        let version = row.version;
        let lines = row.lines.len();
        let version = version - self.rng.i64(..4) / 3;
        let before = lines.saturating_sub(self.rng.usize(..4) / 3);

        Change {
            held,
            version,
            before,
        }
    }

    async fn append(&mut self) {
        let change = self.a_change();
        self.did(("append", &change));
        let Change {
            held,
            version,
            before,
        } = change;

        let seen = i64::try_from(before).unwrap();
        let lines = vec!["{}"];
        let values: [&(dyn ToSql + Sync); 5] = [&held.key, &held.fence, &version, &seen, &lines];
        let appended = self.change(APPEND, &values).await;

        let model = self.model.append(held, version, before, Line::FIRST);
        self.same("appended", &appended, &(model == Written::Yes));
        self.written(held, version, before + 1).await;
    }

    /// Makes a change that replaces the lines, or adds one.
    async fn edit(&mut self) {
        let Change {
            held,
            version,
            mut before,
        } = self.a_change();
        let folds = self.rng.bool();
        self.did(("edit", held, version, folds));

        before = if folds {
            0
        } else {
            before.max(self.model.row(held.key).lines.len())
        };
        let after = i64::try_from(before + 1).unwrap();
        let shape: Option<i64> = None;
        let values: [&(dyn ToSql + Sync); 7] = [
            &held.key,
            &held.fence,
            &version,
            &after,
            &true,
            &shape,
            &0_i64,
        ];
        let changed = self.change(CHANGE, &values).await;
        if changed {
            let kept = if folds { 0 } else { after };
            let delete = "DELETE FROM @.lines WHERE run = $1 AND number > $2";
            self.query(delete, &[&held.key, &kept]).await;
            let insert = "INSERT INTO @.lines (run, number, line) VALUES ($1, $2, '{}')";
            self.query(insert, &[&held.key, &after]).await;
        }

        let model = self.model.edit(held, version, |row| {
            if folds {
                row.folded.append(&mut row.lines);
            }
            row.lines.push(Line::FIRST);
        });
        self.same("changed", &changed, &(model == Written::Yes));
        self.written(held, version + 1, before + 1).await;
    }

    async fn written(&self, held: Held, version: i64, after: usize) {
        let lines = i64::try_from(after).unwrap();
        let values: [&(dyn ToSql + Sync); 4] = [&held.key, &held.fence, &version, &lines];
        let table = !self.query(WRITTEN, &values).await.is_empty();
        let model = self.model.is_written(held, version, after);
        self.same("written", &table, &model);
    }

    /// Sets the status and the answers, as the holder of a run or somebody with an answer does.
    async fn set_status(&mut self) {
        let key = self.a_key();
        let answers = self.rng.i64(..2);
        let seconds = 401;
        let until = self.now + Duration::from_secs(seconds);
        let states = [
            ("open", Status::Open),
            ("failed", Status::Failed),
            ("paused", Status::Paused(Some(until))),
            ("paused", Status::Paused(None)),
            ("ended", Status::Ended),
        ];
        let (name, status) = self.rng.choice(states).unwrap();
        self.did(("set", key, status, answers));

        let until = match status {
            Status::Paused(Some(_)) => {
                format!("(extract(epoch FROM clock_timestamp()) + {seconds})::bigint * 1000")
            }
            _ => "NULL".to_owned(),
        };
        self.execute(&format!(
            "UPDATE @.runs SET status = '{name}', answers = {answers} WHERE key = {key};
             DELETE FROM @.waits WHERE run = {key};
             INSERT INTO @.waits (run, number, step, event, why, until)
             VALUES ({key}, 1, 'step', 'event', '', {until})"
        ))
        .await;
        self.model.change(key, |row| {
            row.status = status;
            row.answers = answers;
        });
    }

    /// Compares all rows.
    async fn compare(&self) {
        let found = self
            .query(
                "SELECT key, fence, version, worker, ready, failures, set_aside, lines,
                     (SELECT count(*) FROM @.lines WHERE run = key) AS counted,
                     extract(epoch FROM wake - clock_timestamp())::float8 AS wake
                 FROM @.runs",
                &[],
            )
            .await;

        for row in found {
            let key: i64 = row.get("key");
            let model = self.model.row(key);
            let lines = i64::try_from(model.lines.len()).unwrap();
            let failures = i32::try_from(model.failures).unwrap();
            let what = |column: &str| format!("run {key}, {column}");

            self.same(&what("fence"), &row.get::<_, i64>("fence"), &model.fence);
            self.same(&what("worker"), &row.get("worker"), &model.worker);
            self.same(&what("ready"), &row.get("ready"), &model.ready);
            self.same(&what("failures"), &row.get("failures"), &failures);
            self.same(
                &what("set_aside"),
                &row.get("set_aside"),
                &model.is_set_aside,
            );
            let known = i64::try_from(model.known).unwrap();
            self.same(&what("version"), &row.get("version"), &model.version);
            self.same(&what("lines"), &row.get("lines"), &known);
            self.same(&what("counted"), &row.get("counted"), &lines);

            let table: Option<f64> = row.get("wake");
            let wake = model
                .wake
                .map(|wake| wake.as_secs_f64() - self.now.as_secs_f64());
            if !is_near(table, wake) {
                self.fail(format_args!(
                    "run {key}, wake: {table:?}, the model: {wake:?}"
                ));
            }
        }
    }
}

fn is_near(table: Option<f64>, model: Option<f64>) -> bool {
    match (table, model) {
        (None, None) => true,
        (Some(table), Some(model)) => (table - model).abs() < TOLERANCE,
        _ => false,
    }
}
