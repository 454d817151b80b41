//! Creates the tables, and changes those of earlier versions.

use tokio_postgres::{Client, Transaction};

use super::failure::Failure;
use super::names::Names;
use crate::StoreError;
use crate::error::Kind;

/// The statements that lead from one version of the tables to the next. `@.` is replaced with the
/// name of the schema and a dot. A migration that was released must not be changed.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/1.sql"),
    include_str!("migrations/2.sql"),
    include_str!("migrations/3.sql"),
    include_str!("migrations/4.sql"),
];

/// The version of the tables after all migrations.
pub(super) const VERSION: i32 = MIGRATIONS.len() as i32;

/// Brings the tables up to date. Several processes may do this at once: one of them migrates, and
/// the others wait for it.
pub(super) async fn migrate(client: &mut Client, names: &Names) -> Result<(), Failure> {
    if version(client, names).await? == Some(VERSION) {
        return Ok(());
    }

    let transaction = client.transaction().await?;
    let lock = "SELECT pg_advisory_xact_lock($1)";
    transaction.execute(lock, &[&names.lock()]).await?;
    let before = create_versions(&transaction, names).await?;
    check(before, names)?;

    let new = (1..).zip(MIGRATIONS).filter(|(number, _)| *number > before);
    for (number, migration) in new {
        transaction.batch_execute(&names.sql(migration)).await?;
        let insert = names.sql("INSERT INTO @.migrations (version) VALUES ($1)");
        transaction.execute(&insert, &[&number]).await?;
    }

    transaction.commit().await?;
    Ok(())
}

/// Returns the version of the tables; `None` if there are none.
async fn version(client: &Client, names: &Names) -> Result<Option<i32>, Failure> {
    let table = names.sql("@.migrations");
    let exists = "SELECT to_regclass($1) IS NOT NULL";
    let exists = client.query_one(exists, &[&table]).await?;

    if !exists.get::<_, bool>(0) {
        return Ok(None);
    }

    let newest = names.sql("SELECT max(version) FROM @.migrations");
    let newest: Option<i32> = client.query_one(&newest, &[]).await?.get(0);
    check(newest.unwrap_or_default(), names)?;
    Ok(newest)
}

/// Creates the table of versions if it doesn't exist. Returns the current version.
async fn create_versions(transaction: &Transaction<'_>, names: &Names) -> Result<i32, Failure> {
    let schema = format!("CREATE SCHEMA IF NOT EXISTS {}", names.schema());
    transaction.batch_execute(&schema).await?;
    let create = names.sql(
        "CREATE TABLE IF NOT EXISTS @.migrations (
             version integer PRIMARY KEY,
             applied timestamptz NOT NULL DEFAULT now()
         );",
    );
    transaction.batch_execute(&create).await?;

    let newest = names.sql("SELECT coalesce(max(version), 0) FROM @.migrations");
    Ok(transaction.query_one(&newest, &[]).await?.get(0))
}

fn check(version: i32, names: &Names) -> Result<(), StoreError> {
    if version <= VERSION {
        return Ok(());
    }

    let place = names.place();
    Err(StoreError::new(
        Kind::Damaged,
        format_args!(
            "{place}: the tables have version {version}, which was made by a newer version of this library; expected version {VERSION} or an earlier one"
        ),
    ))
}
