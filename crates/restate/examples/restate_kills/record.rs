//! What is on record in Restate.

use std::collections::HashMap;

use serde_json::Value;

use crate::Result;
use crate::cluster::Server;

/// The time at which each call was recorded, in milliseconds since 1970, by its idempotency key.
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
        "select name, entry_lite_json, cast(appended_at as bigint) as at from sys_journal \
         where id = '{id}' and entry_type in ('Command: Run', 'Notification: Run')"
    );
    let rows = server.query(&query).await?;

    let mut completed: HashMap<u64, u64> = HashMap::new();
    let mut names: HashMap<u64, &str> = HashMap::new();
    for row in &rows {
        let entry: Value = serde_json::from_str(row["entry_lite_json"].as_str().unwrap_or("{}"))?;
        let command = entry.pointer("/Command/Run/completion_id");
        let notified = entry.pointer("/Notification/id/CompletionId");

        if let (Some(id), Some(name)) = (command.and_then(Value::as_u64), row["name"].as_str()) {
            names.insert(id, name);
        }
        if let (Some(id), Some(at)) = (notified.and_then(Value::as_u64), row["at"].as_u64()) {
            completed.insert(id, at);
        }
    }

    for (id, at) in completed {
        if let Some(name) = names.get(&id) {
            record.insert(format!("{key}:{name}"), at);
        }
    }
    Ok(())
}
