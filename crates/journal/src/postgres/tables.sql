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
    at timestamptz NOT NULL DEFAULT clock_timestamp(), -- when it was written
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
