-- A run. Most updates change `lines` alone, which is in no index, so that no index is written.
CREATE TABLE @.runs (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    flow text NOT NULL,
    shape bigint NOT NULL, -- a hash of what must not change in the flow
    started bigint NOT NULL, -- milliseconds since 1970
    lines bigint NOT NULL, -- how many there are
    status text NOT NULL CHECK (status IN ('open', 'paused', 'failed', 'ended')),
    changed timestamptz NOT NULL DEFAULT clock_timestamp(), -- when the status was written
    error text, -- on which it stopped
    action text, -- on which it ended
    steps bigint, -- in which it ended

    -- Who works on it. Each one to whom it is given gets a higher fence, and only the last one can write.
    fence bigint NOT NULL DEFAULT 0,
    worker text, -- null where nobody works on it
    answers bigint NOT NULL DEFAULT 0, -- how many arrived meanwhile
    wake timestamptz, -- the end of the lease, or when it is to continue; null for never

    -- Runs without a queue are not taken by workers.
    queue text,
    priority integer NOT NULL DEFAULT 0,
    limit_key text,
    metadata jsonb,
    ready boolean NOT NULL DEFAULT false, -- whether a worker may take it now
    failures integer NOT NULL DEFAULT 0, -- in a row, without a new outcome in between
    failure text, -- the last of them
    set_aside boolean NOT NULL DEFAULT false
) WITH (fillfactor = 70);

CREATE INDEX runs_by_start ON @.runs (started);
CREATE INDEX runs_by_flow ON @.runs (flow, started);
CREATE INDEX runs_by_status ON @.runs (status, changed);
CREATE INDEX runs_ready ON @.runs (queue, priority DESC, key) WHERE ready;
CREATE INDEX runs_due ON @.runs (wake) WHERE wake IS NOT NULL;
CREATE INDEX runs_at_work ON @.runs (queue) WHERE worker IS NOT NULL;
CREATE INDEX runs_by_limit_key ON @.runs (limit_key) WHERE limit_key IS NOT NULL;
CREATE INDEX runs_by_metadata ON @.runs USING gin (metadata jsonb_path_ops) WHERE metadata IS NOT NULL;

-- The lines of a run, as they would be in a file.
CREATE TABLE @.lines (
    run bigint NOT NULL REFERENCES @.runs ON DELETE CASCADE,
    number bigint NOT NULL,
    line text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(), -- when it was written
    PRIMARY KEY (run, number)
);

-- The steps that wait, also where one has an answer and the run is open.
CREATE TABLE @.waits (
    run bigint NOT NULL REFERENCES @.runs ON DELETE CASCADE,
    number bigint NOT NULL, -- in the order in which they began
    step text NOT NULL,
    event text NOT NULL,
    why text NOT NULL, -- for whoever is to answer
    until bigint, -- when it is too late, in milliseconds since 1970
    PRIMARY KEY (run, number)
);
CREATE INDEX waits_by_event ON @.waits (event);

-- Answers that arrived while somebody worked on the run.
CREATE TABLE @.answers (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run bigint NOT NULL REFERENCES @.runs ON DELETE CASCADE,
    event text NOT NULL,
    answer text NOT NULL
);
CREATE INDEX answers_by_run ON @.answers (run, number);

-- Queues with limits.
CREATE TABLE @.queues (
    name text PRIMARY KEY,
    max_running bigint,
    max_running_per_key bigint
);
