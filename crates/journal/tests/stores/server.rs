//! The PostgreSQL server of the tests.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Once;

use cogwork_journal::PostgresStore;
use tokio_postgres::{Client, NoTls};

use crate::each::Tested;

/// The variable with the connection string of a server where the tests may create schemas.
pub(crate) const VARIABLE: &str = "COGWORK_TEST_POSTGRES";

/// The connection string of the server. Without one, tests that need it are skipped.
pub(crate) fn url() -> Option<String> {
    static MISSING: Once = Once::new();

    let url = std::env::var(VARIABLE).ok();
    if url.is_none() {
        MISSING.call_once(|| {
            eprintln!(
                "tests with PostgreSQL are skipped, because {VARIABLE} isn't set; run: eval \"$(scripts/local-postgres start)\""
            );
        });
    }

    url
}

/// The name of the schema for the store in a folder.
pub(crate) fn schema(folder: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    std::process::id().hash(&mut hasher);
    match std::env::var("JOB_SCHEMA") {
        Ok(schema) => schema,
        Err(_) => format!("test_{:016x}", hasher.finish()),
    }
}

/// A connection, driven in the background.
pub(crate) async fn connect() -> Client {
    let (client, connection) = tokio_postgres::connect(&url().unwrap(), NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    client
}

/// Executes statements outside of the store, on a thread, so that this also works in async code.
pub(crate) fn execute<T: Send>(work: impl AsyncFnOnce(Client) -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async { work(connect().await).await })
        });
        thread.join().unwrap()
    })
}

impl Tested for PostgresStore {
    const NAME: &str = "postgres";
    const PLACES: [(&str, &str); 3] = [("", ""); 3];

    fn within(folder: &Path) -> Self {
        let store = Self::new(&url().unwrap()).unwrap();
        store.with_schema(schema(folder)).with_max_connections(3)
    }

    /// As if the time of its lease had passed.
    fn after_a_kill(&self) {
        tamper(
            self,
            "UPDATE runs SET wake = clock_timestamp() - interval '1 s' WHERE worker IS NOT NULL",
        );
    }

    fn lines(&self, run_id: &str) -> String {
        let schema = self.schema().to_owned();
        let sql = format!(
            "SELECT line FROM {schema}.lines JOIN {schema}.runs ON run = key WHERE id = $1 ORDER BY number"
        );
        let run_id = run_id.to_owned();
        execute(async |client| {
            let rows = client.query(&sql, &[&run_id]).await.unwrap();
            let lines = rows.iter().map(|row| row.get::<_, String>(0) + "\n");
            lines.collect()
        })
    }

    fn rewrite(&self, run_id: &str, lines: &str) {
        let schema = self.schema().to_owned();
        let sql = format!(
            "UPDATE {schema}.lines SET line = $3 WHERE number = $2 AND run = (SELECT key FROM {schema}.runs WHERE id = $1)"
        );
        let run_id = run_id.to_owned();
        execute(async |client| {
            for (number, line) in (1_i64..).zip(lines.lines()) {
                let changed = client.execute(&sql, &[&run_id, &number, &line]).await;
                assert_eq!(changed.unwrap(), 1);
            }
        });
    }

    fn told(error: impl std::fmt::Display, folder: &Path) -> String {
        let store = format!("{:?}", Self::within(folder));
        let place = store.split('"').nth(1).unwrap().to_owned();
        format!("{error:#}")
            .replace(&format!("{place}, run `a`, line"), "STORE, line")
            .replace(&place, "STORE")
    }
}

/// Runs a test if there is a server.
pub(crate) fn with_server(test: impl Future<Output = ()>) {
    if url().is_some() {
        crate::each::run(test);
    }
}

/// Executes statements in the schema of a store, as somebody else might.
pub(crate) fn tamper(store: &PostgresStore, sql: &str) {
    let schema = store.schema().to_owned();
    let sql = format!("SET search_path TO {schema}; {sql}");
    execute(async |client| client.batch_execute(&sql).await.unwrap());
}
