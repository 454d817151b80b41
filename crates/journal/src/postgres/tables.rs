//! Creates the tables.

use cogwork_text::Name;
use tokio_postgres::Client;

use super::failure::Failure;
use super::names::Names;
use crate::StoreError;
use crate::error::Kind;

/// `@.` is replaced with the name of the schema and a dot.
const TABLES: &str = include_str!("tables.sql");

/// The version of the tables, which is in the comment of the table of runs.
const VERSION: &str = "cogwork 1";

/// Creates the tables if they don't exist. Several processes may do this at once: one of them creates
/// the tables, and the others wait for it.
pub(super) async fn create(client: &mut Client, names: &Names) -> Result<(), Failure> {
    if exist(client, names).await? {
        return Ok(());
    }

    let transaction = client.transaction().await?;
    let lock = "SELECT pg_advisory_xact_lock($1)";
    transaction.execute(lock, &[&names.lock()]).await?;
    if exist(transaction.client(), names).await? {
        return Ok(());
    }

    let schema = format!("CREATE SCHEMA IF NOT EXISTS {}", names.quoted_schema());
    let comment = names.sql(&format!("COMMENT ON TABLE @.runs IS '{VERSION}'"));
    transaction.batch_execute(&schema).await?;
    transaction.batch_execute(&names.sql(TABLES)).await?;
    transaction.batch_execute(&comment).await?;
    transaction.commit().await?;
    Ok(())
}

/// Returns whether the tables exist, and checks their version.
async fn exist(client: &Client, names: &Names) -> Result<bool, Failure> {
    // Unlike `to_regclass`, this sees what another process has just committed.
    let find = "SELECT obj_description(pg_class.oid, 'pg_class')
         FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
         WHERE nspname = $1 AND relname = 'runs'";
    let Some(row) = client.query_opt(find, &[&names.schema]).await? else {
        return Ok(false);
    };

    let version: Option<&str> = row.get(0);
    if version == Some(VERSION) {
        return Ok(true);
    }

    let place = names.place();
    let version = Name(version.unwrap_or_default());
    let text =
        format_args!("{place}: the tables have version `{version}`; expected version `{VERSION}`");
    Err(StoreError::new(Kind::Damaged, text).into())
}
