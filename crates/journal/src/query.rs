//! Queries for runs.

use std::cmp::Reverse;

use crate::RunSummary;

/// A query for runs, with filters and an order.
///
/// A run must match all filters. However, filters for the status, such as [`open`](RunQuery::open)
/// and [`paused`](RunQuery::paused), replace each other, and only the last one applies.
///
/// ```
/// use cogwork_journal::RunQuery;
///
/// let second_page = RunQuery::new().flow("shop").failed().limit(50).offset(50);
/// ```
#[derive(Debug, Clone)]
pub struct RunQuery {
    run_id: Option<String>,
    flow: Option<String>,
    status: Option<&'static str>,
    by_id: bool,
    pub(crate) limit: i64,
    pub(crate) offset: i64,
}

impl RunQuery {
    /// Creates a query for all runs, the newest first.
    pub fn new() -> Self {
        Self {
            run_id: None,
            flow: None,
            status: None,
            by_id: false,
            limit: 100,
            offset: 0,
        }
    }

    pub(crate) fn all_by_id() -> Self {
        Self {
            by_id: true,
            limit: i64::MAX,
            ..Self::new()
        }
    }

    /// Selects the run with this id.
    #[must_use]
    pub fn run_id(mut self, run_id: impl Into<String>) -> Self {
        self.run_id = Some(run_id.into());
        self
    }

    /// Selects runs of the flow with this name.
    #[must_use]
    pub fn flow(mut self, name: impl Into<String>) -> Self {
        self.flow = Some(name.into());
        self
    }

    /// Selects runs that are in use or can be resumed: [`RunStatus::Open`](crate::RunStatus::Open).
    #[must_use]
    pub fn open(self) -> Self {
        self.status("open")
    }

    /// Selects runs that wait for events without an answer:
    /// [`RunStatus::Paused`](crate::RunStatus::Paused).
    #[must_use]
    pub fn paused(self) -> Self {
        self.status("paused")
    }

    /// Selects runs that stopped with an error: [`RunStatus::Failed`](crate::RunStatus::Failed).
    #[must_use]
    pub fn failed(self) -> Self {
        self.status("failed")
    }

    /// Selects runs that ended: [`RunStatus::Ended`](crate::RunStatus::Ended).
    #[must_use]
    pub fn ended(self) -> Self {
        self.status("ended")
    }

    fn status(self, status: &'static str) -> Self {
        Self {
            status: Some(status),
            ..self
        }
    }

    /// Sets the maximum number of runs.
    ///
    /// # Default
    ///
    /// 100.
    #[must_use]
    pub fn limit(mut self, runs: u32) -> Self {
        self.limit = runs.into();
        self
    }

    /// Skips the first `runs` runs.
    ///
    /// # Default
    ///
    /// 0.
    #[must_use]
    pub fn offset(mut self, runs: u64) -> Self {
        self.offset = i64::try_from(runs).unwrap_or(i64::MAX);
        self
    }

    /// Returns the id of the only run that can match, if there is one.
    pub(crate) fn only_run(&self) -> Option<&str> {
        self.run_id.as_deref()
    }

    /// Returns the runs of a list that match, in order.
    pub(crate) fn select(&self, runs: Vec<RunSummary>) -> Vec<RunSummary> {
        let mut runs: Vec<_> = runs.into_iter().filter(|run| self.matches(run)).collect();
        runs.sort_by(|one, other| one.run_id.cmp(&other.run_id));
        if !self.by_id {
            // Runs that started in the same millisecond are in the opposite order of their ids.
            runs.reverse();
            runs.sort_by_key(|run| Reverse(run.started));
        }

        let skipped = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let most = usize::try_from(self.limit).unwrap_or(usize::MAX);
        runs.into_iter().skip(skipped).take(most).collect()
    }

    fn matches(&self, run: &RunSummary) -> bool {
        let is_run = self.run_id.as_ref().is_none_or(|id| *id == run.run_id);
        let is_of_flow = self.flow.as_ref().is_none_or(|flow| *flow == run.flow);
        let has_status = self.status.is_none_or(|status| status == run.status.name());
        is_run && is_of_flow && has_status
    }

    /// Returns the statement that finds the runs in a database, and its values. `@.` is the schema.
    /// `further` is a further condition.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn sql(&self, further: &str) -> (String, Vec<String>) {
        let conditions = [
            ("id = $", self.run_id.clone()),
            ("flow = $", self.flow.clone()),
            ("status = $", self.status.map(str::to_owned)),
        ];

        // Only the conditions that are set, so that an index can be used.
        let mut sql = format!("{FIND}{further}");
        let mut values = Vec::new();
        for (condition, value) in conditions {
            let Some(value) = value else {
                continue;
            };
            values.push(value);
            sql += " AND ";
            sql += &condition.replace('$', &format!("${}", values.len()));
        }

        let order = if self.by_id {
            "id"
        } else {
            // The key decides between runs that started in the same millisecond.
            "started DESC, key DESC"
        };
        let (limit, offset) = (self.limit, self.offset);
        (
            format!("{sql} ORDER BY {order} LIMIT {limit} OFFSET {offset}"),
            values,
        )
    }
}

/// Finds runs, each with its last line and, if it is open or paused, the lines with which its waits began
/// that have no answer.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
const FIND: &str = "SELECT runs.*, number, line, at, CASE WHEN status IN ('open', 'paused') THEN (
         SELECT string_agg(began.line, '\n' ORDER BY began.number)
         FROM @.waits AS waits JOIN @.lines AS began ON began.run = waits.run AND began.number = waits.line
         WHERE waits.run = key AND NOT answered
     ) END AS waiting
     FROM @.runs AS runs JOIN @.lines AS last ON run = key
         AND number = (SELECT max(number) FROM @.lines WHERE run = key)
     WHERE true";

impl Default for RunQuery {
    fn default() -> Self {
        Self::new()
    }
}
