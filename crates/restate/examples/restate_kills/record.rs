//! What is on record in Restate.

use std::collections::HashMap;

use serde_json::Value;

use crate::Result;
use crate::cluster::Server;

/// The idempotency keys of the calls on record. A call may be made more than once until it is
/// recorded; the value is which of these times is on record.
pub(crate) type Record = HashMap<String, u64>;

/// A run, as Restate knows it.
#[derive(Clone, Default)]
pub(crate) struct Run {
    pub(crate) key: String,
    pub(crate) invocation_id: String,
}

/// Returns the calls of a run that are on record: the completed `run` entries of its invocation.
pub(crate) async fn of_run(server: &Server, run: &Run) -> Result<Record> {
    let id = &run.invocation_id;
    if id.is_empty() {
        // It hasn't started yet.
        return Ok(Record::new());
    }

    let query = format!(
        "select name, raw, entry_lite_json as entry from sys_journal \
         where id = '{id}' and entry_type in ('Command: Run', 'Notification: Run')"
    );
    let rows = server.query(&query).await?;

    let mut names: HashMap<u64, &str> = HashMap::new();
    let mut recorded: HashMap<u64, u64> = HashMap::new();
    for row in &rows {
        let entry: Value = serde_json::from_str(text(row, "entry").unwrap_or("{}"))?;
        let command = entry.pointer("/Command/Run/completion_id");
        let notified = entry.pointer("/Notification/id/CompletionId");

        if let (Some(id), Some(name)) = (command.and_then(Value::as_u64), text(row, "name")) {
            names.insert(id, name);
        }
        let times = text(row, "raw").and_then(times);
        if let (Some(id), Some(times)) = (notified.and_then(Value::as_u64), times) {
            recorded.insert(id, times);
        }
    }

    let record = recorded.into_iter().filter_map(|(id, times)| {
        let name = names.get(&id)?;
        Some((format!("{}:{name}", run.key), times))
    });
    Ok(record.collect())
}

/// Finds the number that `make` returned in an outcome, which is written in hexadecimal.
fn times(raw: &str) -> Option<u64> {
    let bytes = raw.as_bytes().chunks(2);
    let bytes =
        bytes.filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let outcome = String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned();

    // Results of tools are JSON inside JSON.
    let names = ["\"times\":", "\\\"times\\\":", "\"prompt_tokens\":"];
    let (_, rest) = names.iter().find_map(|name| outcome.split_once(name))?;
    let end = rest.find(|character: char| !character.is_ascii_digit())?;
    rest.get(..end)?.parse().ok()
}

fn text<'a>(row: &'a Value, column: &str) -> Option<&'a str> {
    row.get(column)?.as_str()
}
