-- `@.` is the schema. Only the clock of the database counts.

CREATE FUNCTION @.now_ms() RETURNS bigint LANGUAGE sql AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- A run. Appending lines doesn't update it.
CREATE TABLE @.runs (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    flow text NOT NULL,
    shape bigint NOT NULL, -- a hash of what must not change in the flow
    started bigint NOT NULL, -- milliseconds since 1970
    status text NOT NULL CHECK (status IN ('open', 'paused', 'failed', 'ended')),
    fork text, -- where it was forked from, as JSON

    -- Who works on it. Each one to whom it is given gets a higher fence, and only the last one can write.
    fence bigint NOT NULL DEFAULT 1,
    version bigint NOT NULL DEFAULT 0, -- how often it was changed other than by appending lines
    worker text, -- null where nobody works on it
    answers bigint NOT NULL DEFAULT 0, -- how many arrived meanwhile
    wake timestamptz, -- the end of the lease, or when it is to continue; null for never

    -- Runs that aren't queued are not taken by workers.
    queued boolean NOT NULL,
    ready boolean NOT NULL, -- whether a worker may take it now
    failures integer NOT NULL DEFAULT 0, -- in a row, without a new outcome in between
    failure text, -- the last of them
    set_aside boolean NOT NULL DEFAULT false
) WITH (fillfactor = 70);

CREATE INDEX runs_by_start ON @.runs (started);
CREATE INDEX runs_by_flow ON @.runs (flow, started);
CREATE INDEX runs_by_status ON @.runs (status, started);
CREATE INDEX runs_ready ON @.runs (key) WHERE ready;
CREATE INDEX runs_due ON @.runs (wake) WHERE wake IS NOT NULL;

-- The lines of a run: the first one with its id and input, and then one for each entry.
-- Every statement that adds lines locks the row of the run, so a foreign key would only look for it once more.
CREATE TABLE @.lines (
    run bigint NOT NULL,
    number bigint NOT NULL,
    line text NOT NULL,
    at bigint NOT NULL DEFAULT @.now_ms(), -- when it was written, in milliseconds since 1970
    PRIMARY KEY (run, number)
);

CREATE FUNCTION @.remove_lines() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        DELETE FROM @.lines WHERE run = OLD.key;
        RETURN NULL;
    END
$$;

CREATE TRIGGER remove_lines AFTER DELETE ON @.runs FOR EACH ROW EXECUTE FUNCTION @.remove_lines();

-- What happened, for people: JSON. A run continues without it.
CREATE TABLE @.events (
    run bigint NOT NULL REFERENCES @.runs ON DELETE CASCADE,
    number bigint NOT NULL,
    event text NOT NULL,
    PRIMARY KEY (run, number)
);

-- The steps that wait, also where one has an answer and the run is open.
CREATE TABLE @.waits (
    run bigint NOT NULL REFERENCES @.runs ON DELETE CASCADE,
    line bigint NOT NULL, -- the number of the line with which it began
    event text NOT NULL,
    until bigint, -- when it is too late, in milliseconds since 1970
    answered boolean NOT NULL DEFAULT false, -- whether its event has an unused answer
    PRIMARY KEY (run, line)
);
CREATE INDEX waits_by_event ON @.waits (event);

-- Answers that arrived while somebody worked on the run, as lines.
CREATE TABLE @.answers (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL REFERENCES @.runs ON DELETE CASCADE,
    line text NOT NULL
);
CREATE INDEX answers_by_run ON @.answers (run, number);

-- Writes the lines and waits of a change.
CREATE FUNCTION @.write_rows(_key bigint, _edit json) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO @.lines (run, number, line, at)
            SELECT _key, (_edit->>'first')::bigint + place - 1, text, coalesce(at, @.now_ms())
            FROM ROWS FROM (json_to_recordset(_edit->'lines') AS (text text, at bigint))
                WITH ORDINALITY AS new (text, at, place);
        INSERT INTO @.waits (run, line, event, until)
            SELECT _key, line, event, until
            FROM json_to_recordset(_edit->'waits'->'begun') AS new (line bigint, event text, until bigint);
        DELETE FROM @.waits WHERE run = _key
            AND line IN (SELECT value::bigint FROM json_array_elements_text(_edit->'waits'->'ended'));
        UPDATE @.waits AS waits SET answered = new.answered::boolean
            FROM json_each_text(_edit->'waits'->'answered') AS new (event, answered)
            WHERE run = _key AND waits.event = new.event AND waits.answered <> new.answered::boolean;
    END
$$;

-- Records a new run, and returns its key, or null if it exists. It is for workers if it has no worker.
CREATE FUNCTION @.start_run(
    _id text, _flow text, _shape bigint, _started bigint, _fork text, _worker text, _seconds float8, _edit json
) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
        _key bigint;
        _queued boolean := _worker IS NULL;
    BEGIN
        INSERT INTO @.runs (id, flow, shape, started, status, fork, worker, wake, queued, ready)
            VALUES (_id, _flow, _shape, _started, coalesce(_edit->>'status', 'open'), _fork, _worker,
                CASE WHEN NOT _queued THEN clock_timestamp() + make_interval(secs => _seconds) END, _queued, _queued)
            ON CONFLICT (id) DO NOTHING RETURNING key INTO _key;
        IF _key IS NULL THEN
            RETURN NULL;
        END IF;

        PERFORM @.write_rows(_key, _edit);
        RETURN _key;
    END
$$;

-- Writes any change other than appended lines, if the lease and the rows are as the writer left them, and returns
-- whether they are. The shape is that of the flow if the lines replace all earlier ones. The answers are those among
-- the lines.
CREATE FUNCTION @.change_run(
    _key bigint, _fence bigint, _version bigint, _shape bigint, _answers bigint[], _edit json
) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE @.runs SET version = version + 1,
            failures = CASE WHEN (_edit->>'is_progress')::boolean THEN 0 ELSE failures END,
            shape = coalesce(_shape, shape),
            status = coalesce(_edit->>'status', status),
            answers = answers - cardinality(_answers)
            WHERE key = _key AND fence = _fence AND version = _version AND worker IS NOT NULL;
        IF NOT FOUND THEN
            -- Perhaps the same holder has written it before, and the connection failed after that.
            RETURN EXISTS (
                SELECT FROM @.runs
                WHERE key = _key AND fence = _fence AND version = _version + 1 AND worker IS NOT NULL
            );
        END IF;

        IF _shape IS NOT NULL THEN
            DELETE FROM @.lines WHERE run = _key;
            DELETE FROM @.waits WHERE run = _key;
        END IF;
        DELETE FROM @.answers WHERE number = ANY(_answers);
        PERFORM @.write_rows(_key, _edit);
        -- The writer doesn't know of answers that arrived before it paused.
        UPDATE @.runs SET status = 'open' WHERE key = _key AND _edit->>'status' = 'paused'
            AND EXISTS (SELECT FROM @.waits WHERE run = _key AND answered);
        RETURN true;
    END
$$;

-- Makes runs ready that are due, and sets those aside that failed or whose workers died too often. Returns how many
-- seconds it takes until the next run is due. The delays are those in seconds after each failure but the last.
CREATE FUNCTION @.wake_due(_delays float8[]) RETURNS float8 LANGUAGE plpgsql AS $$
    BEGIN
        WITH due AS (
            SELECT key, worker IS NOT NULL AS died,
                queued AND (set_aside OR worker IS NOT NULL AND failures >= cardinality(_delays)) AS is_set_aside
            FROM @.runs WHERE wake <= clock_timestamp() AND NOT ready
            ORDER BY wake LIMIT 1000 FOR UPDATE SKIP LOCKED
        )
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
            FROM due WHERE runs.key = due.key;

        RETURN (SELECT extract(epoch FROM min(wake) - clock_timestamp()) FROM @.runs WHERE wake IS NOT NULL AND NOT ready);
    END
$$;

-- Gives back a lease, and decides when the run is to continue: at once if it was interrupted or answered, when its
-- first wait times out if it waits, and after a delay if it failed.
CREATE FUNCTION @.release(
    _key bigint, _fence bigint, _is_interrupted boolean, _failure text, _delays float8[]
) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        _run @.runs;
        _failed boolean;
        _is_set_aside boolean;
        _continues timestamptz;
        _is_ready boolean;
    BEGIN
        SELECT * INTO _run FROM @.runs WHERE key = _key AND fence = _fence AND worker IS NOT NULL FOR UPDATE;
        IF NOT FOUND THEN
            RETURN;
        END IF;

        _failed := NOT _is_interrupted AND (_failure IS NOT NULL OR _run.status = 'failed');
        _is_set_aside := _run.queued AND (_run.set_aside OR _failed AND _run.failures >= cardinality(_delays));
        _continues := CASE
            WHEN NOT _run.queued OR _run.status = 'ended' OR _is_set_aside THEN NULL
            WHEN _failed THEN clock_timestamp() + make_interval(secs => _delays[_run.failures + 1])
            WHEN _is_interrupted OR _run.answers > 0 OR _run.status = 'open' THEN clock_timestamp()
            WHEN _run.status = 'paused' THEN
                (SELECT to_timestamp(min(until) / 1000.0) FROM @.waits WHERE run = _key)
        END;
        _is_ready := coalesce(_continues <= clock_timestamp(), false);

        UPDATE @.runs SET worker = NULL,
            failures = failures + _failed::int,
            failure = CASE WHEN _failed THEN coalesce(_failure, 'it failed outside of a worker') ELSE failure END,
            set_aside = _is_set_aside,
            ready = _is_ready,
            wake = _continues
            WHERE key = _key;
    END
$$;

-- Leaves an answer for whoever works on a run, and returns whether that is possible. The row is locked before the
-- answer is inserted, so that the run isn't given back without it. A run that paused and isn't given back yet is open
-- again, as if it had been free. If waits are given, as the lines with which they began, one of them must still have
-- no answer.
CREATE FUNCTION @.offer(_id text, _event text, _line text, _waits text[], _most bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
        _key bigint;
    BEGIN
        SELECT key INTO _key FROM @.runs
            WHERE id = _id AND worker IS NOT NULL AND wake > clock_timestamp() AND answers < _most AND status <> 'ended'
                AND (_waits IS NULL OR status <> 'failed')
            FOR UPDATE;
        IF _key IS NULL OR _waits IS NOT NULL AND NOT EXISTS (
            SELECT FROM @.waits AS waits JOIN @.lines AS began ON began.run = waits.run AND began.number = waits.line
            WHERE waits.run = _key AND NOT answered AND began.line = ANY(_waits)
        ) THEN
            RETURN false;
        END IF;

        UPDATE @.runs SET answers = answers + 1,
            status = CASE
                WHEN status = 'paused' AND EXISTS (SELECT FROM @.waits WHERE run = key AND event = _event)
                THEN 'open' ELSE status END
            WHERE key = _key;
        INSERT INTO @.answers (run, line) VALUES (_key, _line);
        UPDATE @.waits SET answered = true WHERE run = _key AND event = _event;
        RETURN true;
    END
$$;
