//! Runs in PostgreSQL: how long recording a step takes, compared with a bare insert in the same server, and how many
//! runs per second workers take.
//!
//! ```console
//! $ eval "$(scripts/local-postgres start)"
//! $ cargo bench -p cogwork-benches --bench postgres
//! ```
//!
//! With the argument `-- steps` or `-- claims`, only that part is measured. Everything is executed in turn, many times,
//! so that whatever else the machine does falls on all of it.

mod claims;
#[allow(dead_code, reason = "one statement is measured")]
#[path = "../../crates/journal/src/postgres/statements.rs"]
mod statements;
mod steps;

use std::env;

use cogwork_benches::BoxError;
use tokio_postgres::{Client, Config, NoTls};

/// The server.
#[derive(Clone)]
struct Server {
    url: String,
    config: Config,
}

impl Server {
    fn new(url: String) -> Result<Self, BoxError> {
        let config = url.parse()?;
        Ok(Self { url, config })
    }

    async fn connect(&self) -> Result<Client, BoxError> {
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }
}

/// The schema of all tables here.
const SCHEMA: &str = "bench";

/// Returns whether a part is named in the arguments, or none is.
fn is_wanted(part: &str) -> bool {
    let arguments = env::args().skip(1);
    let names: Vec<_> = arguments
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    names.is_empty() || names.iter().any(|name| name == part)
}

/// Returns how often something is repeated: once if the bench is only tried out, with `--test`.
fn rounds(usual: u32) -> u32 {
    let is_trial = env::args().any(|argument| argument == "--test");
    if is_trial { 1 } else { usual }
}

async fn measure(server: &Server) -> Result<(), BoxError> {
    let client = server.connect().await?;
    client
        .batch_execute(&format!(
            "DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA};
             CREATE TABLE {SCHEMA}.bare (run bigint, number bigint, line text, PRIMARY KEY (run, number))"
        ))
        .await?;

    if is_wanted("steps") {
        for bytes in [512, 2_048, 10_240] {
            steps::compare(server, bytes).await?;
        }
    }
    if is_wanted("claims") {
        claims::measure(server).await?;
    }

    client
        .batch_execute(&format!("DROP SCHEMA {SCHEMA} CASCADE"))
        .await?;
    Ok(())
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
    runtime.block_on(measure(&Server::new(url)?))
}
