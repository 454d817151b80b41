//! What is on record in Restate.

use std::collections::HashMap;

use serde_json::Value;

use crate::Result;
use crate::cluster::Server;

/// The idempotency keys of the calls on record. A call may be made more than once until it is
/// recorded; the value is which of these times is on record.
pub(crate) type Record = HashMap<String, u64>;

/// Returns the calls of a run that are on record.
pub(crate) async fn of_run(server: &Server, workflow: &str, key: &str) -> Result<Record> {
    let run = format!(
        "select id from sys_invocation where target_service_name = '{workflow}' \
         and target_service_key = '{key}' and target_handler_name = 'run'"
    );

    let mut record = Record::new();
    for run in ids(&server.query(&run).await?) {
        add(server, &run, key, &mut record).await?;

        if workflow != "Survey" {
            continue;
        }
        let items = format!("select id from sys_invocation where invoked_by_id = '{run}'");
        for item in ids(&server.query(&items).await?) {
            add(server, &item, key, &mut record).await?;
        }
    }

    Ok(record)
}

fn ids(rows: &[Value]) -> Vec<String> {
    let ids = rows.iter().filter_map(|row| row["id"].as_str());
    ids.map(str::to_owned).collect()
}

/// Adds the completed `run` entries of an invocation.
async fn add(server: &Server, id: &str, key: &str, record: &mut Record) -> Result<()> {
    let query = format!(
        "select name, raw, entry_lite_json as entry from sys_journal \
         where id = '{id}' and entry_type in ('Command: Run', 'Notification: Run')"
    );
    let rows = server.query(&query).await?;

    let mut names: HashMap<u64, &str> = HashMap::new();
    let mut recorded: HashMap<u64, u64> = HashMap::new();
    for row in &rows {
        let entry: Value = serde_json::from_str(row["entry"].as_str().unwrap_or("{}"))?;
        let command = entry.pointer("/Command/Run/completion_id");
        let notified = entry.pointer("/Notification/id/CompletionId");

        if let (Some(id), Some(name)) = (command.and_then(Value::as_u64), row["name"].as_str()) {
            names.insert(id, name);
        }
        let times = row["raw"].as_str().and_then(times);
        if let (Some(id), Some(times)) = (notified.and_then(Value::as_u64), times) {
            recorded.insert(id, times);
        }
    }

    for (id, times) in recorded {
        if let Some(name) = names.get(&id) {
            record.insert(format!("{key}:{name}"), times);
        }
    }
    Ok(())
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
