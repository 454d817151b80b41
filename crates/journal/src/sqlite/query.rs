use std::time::UNIX_EPOCH;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::database::Database;
use crate::query::{millis, time};
use crate::rows::{fork, read_schema, status};
use crate::waits::WaitChange;
use crate::{RunQuery, RunStatus, RunSummary, StoreError, WaitSummary};

impl RunQuery {
    fn sql(&self) -> (String, Vec<Value>) {
        let mut sql = format!("SELECT {COLUMNS} FROM runs WHERE true");
        let mut values = Vec::new();

        for (condition, value) in self.conditions() {
            sql.push_str(" AND ");
            sql.push_str(condition);
            values.push(value.into());
        }

        sql.push_str(&format!(" ORDER BY {} LIMIT ? OFFSET ?", self.order));
        values.extend([self.limit.into(), self.offset.into()]);
        (sql, values)
    }
}

impl Database {
    pub(super) fn query(&self, query: &RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        let found = self.read(|reader| {
            let (sql, values) = query.sql();
            let mut find = reader.prepare_cached(&sql)?;
            let mut rows = find.query(params_from_iter(values))?;
            let mut runs = Vec::new();

            while let Some(row) = rows.next()? {
                let mut run = summary(row)?;
                if let RunStatus::Paused { waits } = &mut run.status {
                    *waits = waits_of(reader, row.get("key")?)?;
                }

                runs.push(run);
            }

            Ok(runs)
        });

        Ok(found?.unwrap_or_default())
    }
}

const COLUMNS: &str = "key, id, flow, started, lines, status, error, action, steps, updated, fork";

fn waits_of(reader: &Connection, key: i64) -> rusqlite::Result<Vec<WaitSummary>> {
    let sql = "SELECT step, event, why, until, schema FROM waits WHERE run = ? ORDER BY number";
    let mut find = reader.prepare_cached(sql)?;
    let waits = find.query_map([key], |row| {
        let until: Option<i64> = row.get("until")?;
        let schema: Option<String> = row.get("schema")?;
        Ok(WaitSummary {
            step: row.get("step")?,
            event: row.get("event")?,
            why: row.get("why")?,
            until: until.and_then(time),
            schema: schema.as_deref().and_then(read_schema),
        })
    })?;

    waits.collect()
}

fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let lines: i64 = row.get("lines")?;
    let updated: Option<i64> = row.get("updated")?;
    let status = status(
        row.get_ref("status")?.as_str()?,
        row.get("error")?,
        row.get("action")?,
        row.get("steps")?,
    );

    Ok(RunSummary {
        run_id: row.get("id")?,
        flow: row.get("flow")?,
        fork: fork(row.get_ref("fork")?.as_str_or_null()?),
        started: time(row.get("started")?).unwrap_or(UNIX_EPOCH),
        updated: updated.and_then(time),
        entries: u64::try_from(lines).unwrap_or_default().saturating_sub(1),
        status,
    })
}

impl WaitChange {
    pub(super) fn write(self, database: &Connection, key: i64) -> rusqlite::Result<()> {
        let row = |number| (key, i64::try_from(number).unwrap_or(i64::MAX));
        match self {
            Self::Began(
                number,
                WaitSummary {
                    step,
                    event,
                    why,
                    until,
                    schema,
                },
            ) => {
                let (key, number) = row(number);
                let sql = "INSERT INTO waits (run, number, step, event, why, until, schema) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
                let mut insert = database.prepare_cached(sql)?;
                let until = until.map(millis);
                let schema = schema.map(|schema| schema.as_str().to_owned());
                insert.execute((key, number, step, event, why, until, schema))?;
            }
            Self::Shortened(number, until) => {
                let (key, number) = row(number);
                let sql = "UPDATE waits SET until = ?3 WHERE run = ?1 AND number = ?2";
                database
                    .prepare_cached(sql)?
                    .execute((key, number, until.map(millis)))?;
            }
            Self::Ended(number) => {
                let sql = "DELETE FROM waits WHERE run = ?1 AND number = ?2";
                database.prepare_cached(sql)?.execute(row(number))?;
            }
            Self::AllEnded => {
                database
                    .prepare_cached("DELETE FROM waits WHERE run = ?1")?
                    .execute([key])?;
            }
        }

        Ok(())
    }
}
