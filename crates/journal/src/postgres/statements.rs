//! The statements that are executed most often; the others are functions in `tables.sql`.
//!
//! `@.` is the schema. The parameters are listed above each statement.

/// Finds a run and, if `$4`, takes it unless somebody works on it: the id, the worker, and the length of the
/// lease in seconds. Always returns one row.
pub(super) const TAKE: &str = "WITH found AS (
         SELECT key AS found, CASE WHEN wake > clock_timestamp() THEN worker END AS holder,
             extract(epoch FROM wake - clock_timestamp())::float8 AS seconds
         FROM @.runs WHERE id = $1
     ), taken AS (
         UPDATE @.runs SET fence = fence + 1, worker = $2, ready = false,
             wake = clock_timestamp() + make_interval(secs => $3)
         WHERE id = $1 AND $4 AND (worker IS NULL OR wake <= clock_timestamp())
         RETURNING id, flow, key, fence, version, failures > 0 AS has_failures, answers
     )
     SELECT *, @.now_ms() AS now FROM (VALUES (1)) AS one LEFT JOIN found ON true LEFT JOIN taken ON true";

/// Takes queued runs: the worker, the length of the lease in seconds, the flows, their shapes, and the
/// maximum number of runs. Several workers can do so at once: each skips the rows that another one is
/// taking.
pub(super) const CLAIM: &str = "UPDATE @.runs SET fence = fence + 1, worker = $1, ready = false,
         wake = clock_timestamp() + make_interval(secs => $2)
     WHERE key IN (
         SELECT key FROM @.runs
         WHERE ready AND (flow, shape) IN (SELECT * FROM unnest($3::text[], $4::bigint[]))
         ORDER BY key LIMIT $5 FOR UPDATE SKIP LOCKED
     )
     RETURNING id, flow, key, fence, version, failures > 0 AS has_failures, answers, @.now_ms() AS now";

/// Renews a lease, and returns a row if it still exists: the key, the fence, and the length of the lease in
/// seconds.
pub(super) const RENEW: &str =
    "UPDATE @.runs SET wake = clock_timestamp() + make_interval(secs => $3)
     WHERE key = $1 AND fence = $2 AND worker IS NOT NULL RETURNING key";

/// Appends lines, and returns a row if the lease and the rows are as the writer left them: the key, the
/// fence, the version, the number of lines before that, and the lines. One statement, and so one round trip.
///
/// The row of the run is only locked, since updating it for each step would be the largest part of the
/// work. Until the lines are committed, nobody can take the run or change it: that updates the row.
/// Only the holder of the lease adds lines, so if they are there, an earlier attempt has written them.
pub(super) const APPEND: &str = "WITH held AS (
         SELECT key FROM @.runs
         WHERE key = $1 AND fence = $2 AND version = $3 AND worker IS NOT NULL FOR SHARE
     ), written AS (
         INSERT INTO @.lines (run, number, line)
         SELECT key, $4 + number, line FROM held, unnest($5::text[]) WITH ORDINALITY AS new (line, number)
         ON CONFLICT DO NOTHING
     )
     SELECT key FROM held";

/// Adds events if the lease is still held: the key, the fence, and the events. They need not survive a
/// crash of the server, so the commit doesn't wait for its disk.
pub(super) const EVENTS: &str = "WITH held AS (
         SELECT key, set_config('synchronous_commit', 'off', true) FROM @.runs
         WHERE key = $1 AND fence = $2 AND worker IS NOT NULL FOR SHARE
     )
     INSERT INTO @.events (run, number, event)
     SELECT key, (SELECT coalesce(max(number) + 1, 0) FROM @.events WHERE run = $1) + place - 1, event
     FROM held, unnest($3::text[]) WITH ORDINALITY AS new (event, place)";
