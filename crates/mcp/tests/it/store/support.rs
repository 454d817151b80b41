//! Servers with sessions in a folder.

use std::path::Path;

use cogwork_mcp::{Server, ServerBuilder};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{Client, call, connect, text};

/// Returns a thought of a session.
pub(super) fn thought(session: &str) -> Value {
    json!({
        "thought": "a",
        "thoughtNumber": 1,
        "totalThoughts": 3,
        "nextThoughtNeeded": true,
        "sessionId": session,
    })
}

/// Records a thought, and returns the number of thoughts or the message.
pub(super) async fn record(client: &Client, session: &str) -> Result<u64, String> {
    let result = call(client, "sequentialthinking", thought(session)).await;
    if result.is_error == Some(true) {
        return Err(text(&result).to_owned());
    }
    let answer = result.structured_content.expect("an answer");
    Ok(answer["thoughtHistoryLength"].as_u64().expect("a number"))
}

pub(super) fn server(folder: &Path) -> ServerBuilder {
    Server::builder().with_data(folder)
}

pub(super) async fn client(folder: &Path) -> Client {
    connect(server(folder)).await
}

/// Opens the database like another program.
pub(super) fn database(folder: &Path) -> Connection {
    Connection::open(folder.join("sessions.sqlite")).expect("a database")
}

/// Returns the message of a server that cannot be opened.
pub(super) fn refusal(folder: &Path) -> String {
    match server(folder).open() {
        Ok(_) => panic!("the server opens"),
        Err(error) => error.to_string(),
    }
}
