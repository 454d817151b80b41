//! Sessions in memory and in a database, and what can be wrong with the database.

mod files;
mod killed;
mod locked;
mod others;

use std::path::Path;

use cogwork_mcp::{Server, ServerBuilder};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{Client, text, thought};

/// A thought of a session.
fn of_session(session: &str) -> Value {
    thought(json!({"sessionId": session}))
}

/// Records a thought, and returns the number of thoughts or the message.
async fn record(client: &Client, session: &str) -> Result<u64, String> {
    let result = client.call("sequentialthinking", of_session(session)).await;
    if result.is_error == Some(true) {
        return Err(text(&result).to_owned());
    }
    let answer = result.structured_content.expect("an answer");
    Ok(answer["thoughtHistoryLength"].as_u64().expect("a number"))
}

fn server(folder: &Path) -> ServerBuilder {
    Server::builder().with_data(folder)
}

async fn client(folder: &Path) -> Client {
    Client::new(server(folder)).await
}

/// Records this many thoughts of the session `a`.
async fn record_all(folder: &Path, thoughts: u64) -> Client {
    let client = client(folder).await;
    for number in 1..=thoughts {
        assert_eq!(record(&client, "a").await, Ok(number));
    }
    client
}

/// Changes the database like another program.
fn change(folder: &Path, sql: &str) -> Connection {
    let database = Connection::open(folder.join("sessions.sqlite")).expect("a database");
    database.execute_batch(sql).expect("a change");
    database
}
