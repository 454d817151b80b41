//! The statements with which the database decides who may write a run. Only its clock counts.
//!
//! `@.` is the schema. The parameters are listed above each statement.

/// The assignments of all statements that take runs.
macro_rules! take {
    ($worker:literal, $seconds:literal) => {
        concat!(
            "fence = fence + 1, worker = ",
            $worker,
            ", ready = false, wake = clock_timestamp() + make_interval(secs => ",
            $seconds,
            ")"
        )
    };
}

/// What all statements that take runs return.
macro_rules! taken {
    () => {
        "id, flow, key, fence, version, failures > 0 AS has_failures, answers,
         (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now"
    };
}

/// Takes one run, unless somebody works on it: the id, the worker, and the length of the lease in
/// seconds.
pub(super) const TAKE: &str = concat!(
    "UPDATE @.runs SET ",
    take!("$2", "$3"),
    " WHERE id = $1 AND (worker IS NULL OR wake <= clock_timestamp()) RETURNING ",
    taken!()
);

/// Takes queued runs: the worker, the length of the lease in seconds, the flows, their shapes, and the
/// maximum number of runs. Several workers can do so at once: each skips the rows that
/// another one is taking.
pub(super) const CLAIM: &str = concat!(
    "UPDATE @.runs SET ",
    take!("$1", "$2"),
    " WHERE key IN (
         SELECT key FROM @.runs
         WHERE ready AND (flow, shape) IN (SELECT * FROM unnest($3::text[], $4::bigint[]))
         ORDER BY key LIMIT $5 FOR UPDATE SKIP LOCKED
     ) RETURNING ",
    taken!()
);

/// Makes runs ready that are due, and sets those aside that failed or whose workers died too often:
/// the delays in seconds after each failure but the last, and the channel to notify.
pub(super) const WAKE_DUE: &str = "WITH due AS (
         SELECT key, worker IS NOT NULL AS died,
             queued AND (set_aside OR worker IS NOT NULL
                 AND failures >= cardinality($1::float8[])) AS is_set_aside
         FROM @.runs WHERE wake <= clock_timestamp() AND NOT ready
         ORDER BY wake LIMIT 1000 FOR UPDATE SKIP LOCKED
     ), woken AS (
         UPDATE @.runs AS runs SET
             fence = fence + died::int,
             worker = NULL,
             failures = failures + died::int,
             failure = CASE WHEN died
                 THEN format('the lease of %s expired, so it died or lost the database', worker)
                 ELSE failure END,
             set_aside = is_set_aside,
             ready = queued AND NOT is_set_aside,
             wake = NULL
         FROM due WHERE runs.key = due.key
         RETURNING ready
     )
     SELECT pg_notify($2, '') FROM woken WHERE ready LIMIT 1";

/// Returns how many seconds it takes until the next run is due.
pub(super) const NEXT_DUE: &str =
    "SELECT extract(epoch FROM min(wake) - clock_timestamp())::float8 FROM @.runs
     WHERE wake IS NOT NULL AND NOT ready";

/// Renews leases, and returns the keys of those that still exist: the keys, their fences, and the
/// length of the lease in seconds.
pub(super) const RENEW: &str =
    "UPDATE @.runs SET wake = clock_timestamp() + make_interval(secs => $3)
     FROM unnest($1::bigint[], $2::bigint[]) AS held (held_key, held_fence)
     WHERE key = held_key AND fence = held_fence AND worker IS NOT NULL
     RETURNING key";

/// Gives back a lease, and decides when the run is to continue: at once if it was interrupted or
/// answered, when its first wait times out if it waits, and after a delay if it failed. The key, the
/// fence, whether it was interrupted, the failure, the delays in seconds after each failure but the
/// last, and the channel to notify.
pub(super) const RELEASE: &str = "WITH at AS (
         SELECT *, NOT $3 AND ($4::text IS NOT NULL OR status = 'failed') AS failed
         FROM @.runs WHERE key = $1 AND fence = $2 AND worker IS NOT NULL FOR UPDATE
     ), next AS (
         SELECT key, failed,
             queued AND (set_aside OR failed AND failures >= cardinality($5::float8[]))
                 AS is_set_aside,
             CASE
                 WHEN NOT queued OR status = 'ended' THEN NULL
                 WHEN failed THEN clock_timestamp() + make_interval(secs => $5[failures + 1])
                 WHEN $3 OR answers > 0 OR status = 'open' THEN clock_timestamp()
                 WHEN status = 'paused' THEN
                     (SELECT to_timestamp(min(until) / 1000.0) FROM @.waits WHERE run = key)
             END AS continues
         FROM at
     ), released AS (
         UPDATE @.runs AS runs SET worker = NULL,
             failures = runs.failures + failed::int,
             failure = CASE WHEN failed THEN coalesce($4, 'it failed outside of a worker') ELSE runs.failure END,
             set_aside = is_set_aside,
             ready = NOT is_set_aside AND coalesce(continues <= clock_timestamp(), false),
             wake = CASE WHEN NOT is_set_aside THEN continues END
         FROM next WHERE runs.key = next.key
         RETURNING runs.ready
     )
     SELECT pg_notify($6, '') FROM released WHERE ready";

/// Appends lines if the lease and the rows are as the writer left them: the key, the fence, the version,
/// the number of lines before that, and the lines. One statement, and so one round trip.
///
/// The row of the run is only locked, since updating it for each step would be the largest part of the
/// work. Until the lines are committed, nobody can take the run or change it: that updates the row.
/// If a line with one of these numbers exists, the statement fails, since the numbers are unique.
pub(super) const APPEND: &str = "INSERT INTO @.lines (run, number, line)
     SELECT key, $4 + number, line
     FROM (
         SELECT key FROM @.runs
         WHERE key = $1 AND fence = $2 AND version = $3 AND worker IS NOT NULL FOR SHARE
     ) AS held, unnest($5::text[]) WITH ORDINALITY AS new (line, number)";

/// Begins any other change, if the lease and the rows are as the writer left them: the key, the fence,
/// the version, whether the run got further, the hash of the flow and the status if they change, and the
/// number of answers that the change contains. The row is locked from then on.
pub(super) const CHANGE: &str = "UPDATE @.runs SET version = version + 1,
         failures = CASE WHEN $4 THEN 0 ELSE failures END,
         shape = coalesce($5, shape), status = coalesce($6, status), answers = answers - $7
     WHERE key = $1 AND fence = $2 AND version = $3 AND worker IS NOT NULL";

/// Finds a run that is as a change left it: the key, the fence, the version after it, and the number of
/// lines after it.
pub(super) const WRITTEN: &str = "SELECT FROM @.runs
     WHERE key = $1 AND fence = $2 AND version = $3 AND worker IS NOT NULL
         AND EXISTS (SELECT FROM @.lines WHERE run = key AND number = $4)";

/// Adds events if the lease is still held: the key, the fence, and the events. They need not survive a
/// crash of the server, so the commit doesn't wait for its disk.
pub(super) const EVENTS: &str = "WITH held AS (
         SELECT key, set_config('synchronous_commit', 'off', true) FROM @.runs
         WHERE key = $1 AND fence = $2 AND worker IS NOT NULL FOR SHARE
     )
     INSERT INTO @.events (run, number, event)
     SELECT key, (SELECT coalesce(max(number) + 1, 0) FROM @.events WHERE run = $1) + place - 1, event
     FROM held, unnest($3::text[]) WITH ORDINALITY AS new (event, place)";
