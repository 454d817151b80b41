//! Text to SQL: a model writes a query for SQLite. An error of the database is sent back to the model, which is asked
//! again.
//!
//! ```text
//! asked again: no such column: price in SELECT customer, SUM(price) FROM orders GROUP BY customer at offset 21
//! asked again: attempt to write a readonly database
//! SELECT customer, SUM(cents) FROM orders GROUP BY customer
//!   ACME, 1500
//!   Babel, 800
//! ```
//!
//! For another database, change `rows`. Every query has its own
//! connection, which can't write, because the SQL comes from a model.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use cogwork::prelude::*;
use cogwork_quickstart::model;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use serde::Deserialize;
use tokio::task::spawn_blocking;

// --- core ---

#[derive(Default)]
struct Question {
    text: String,
    sql: String,
    rows: Vec<String>,
    errors: Vec<String>,
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Query {
    /// One SELECT statement of SQLite.
    sql: String,
}

async fn run(database: Arc<Path>, sql: String) -> Result<Vec<String>, BoxError> {
    Ok(spawn_blocking(move || rows(&database, &sql)).await??)
}

fn text_to_sql(
    client: impl LlmClient + 'static,
    database: &Arc<Path>,
) -> Result<Flow<Question>, BuildError> {
    let checked = Arc::clone(database);
    let write = Model::<Query>::typed(client)
        .with_asks_again(3)
        .with_async_check(move |query: Query| {
            let rows = run(Arc::clone(&checked), query.sql);
            async { rows.await.map(drop).map_err(|error| error.to_string()) }
        })
        .node(
            |question: &Question| prompt(&question.text),
            |question, query| question.sql = query.sql,
        )
        .with_log(|question, log, _| {
            let complaints = log.tries.iter().filter_map(|one| one.complaint.clone());
            question.errors = complaints.collect();
        });
    let query = from_phases_with(
        Arc::clone(database),
        |question: &mut Question| question.sql.clone(),
        run,
        |question, rows| question.rows = rows,
    );

    Flow::builder("text to SQL")
        .node("write", write)
        .node("query", query)
        .chain(["write", "query"])
        .build()
}

// --- end of the core ---

const TABLES: &str = "CREATE TABLE orders (customer TEXT, cents INTEGER);";

fn prompt(question: &str) -> String {
    format!("Write a query for the database below. {question}\n{TABLES}")
}

fn rows(database: &Path, sql: &str) -> rusqlite::Result<Vec<String>> {
    let database = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut statement = database.prepare(sql)?;
    let columns = statement.column_count();

    let row = |row: &Row<'_>| {
        let values = (0..columns).map(|column| row.get_ref(column).map(shown));
        let values: Vec<String> = values.collect::<rusqlite::Result<_>>()?;
        Ok(values.join(", "))
    };
    statement.query_map([], row)?.collect()
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        other => format!("{other:?}"),
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("shop.db");
    Connection::open(&file)?.execute_batch(&format!(
        "{TABLES} INSERT INTO orders VALUES ('ACME', 1200), ('Babel', 800), ('ACME', 300);"
    ))?;

    let client = model(ScriptedClient::new([
        r#"{"sql": "SELECT customer, SUM(price) FROM orders GROUP BY customer"}"#,
        r#"{"sql": "DELETE FROM orders"}"#,
        r#"{"sql": "SELECT customer, SUM(cents) FROM orders GROUP BY customer"}"#,
    ]))?;
    let mut state = Question {
        text: "How much has each customer ordered?".to_owned(),
        ..Question::default()
    };
    text_to_sql(client, &file.into())?.run(&mut state).await?;

    for error in &state.errors {
        println!("asked again: {error}");
    }
    println!("{}", state.sql);
    for row in &state.rows {
        println!("  {row}");
    }
    Ok(())
}
