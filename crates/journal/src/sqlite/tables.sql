-- The first line, with the input, isn't a column of `runs`, which is read for lists.
CREATE TABLE runs (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    flow TEXT NOT NULL,
    started INTEGER NOT NULL, -- milliseconds since 1970
    status TEXT NOT NULL CHECK (status IN ('open', 'paused', 'failed', 'ended')),
    fork TEXT -- where it was forked from, as JSON
) STRICT;
CREATE INDEX runs_by_start ON runs (started);
CREATE INDEX runs_by_flow ON runs (flow, started);
CREATE INDEX runs_by_status ON runs (status, started);

CREATE TABLE lines (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    number INTEGER NOT NULL,
    line TEXT NOT NULL,
    at INTEGER, -- when it was written, in milliseconds since 1970; null for the first line
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- What happened, for people: JSON. A run continues without it.
CREATE TABLE events (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    number INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- The steps that wait, also where one has an answer and the run is open.
CREATE TABLE waits (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    line INTEGER NOT NULL, -- the number of the line with which it began
    event TEXT NOT NULL,
    until INTEGER, -- when it is too late, in milliseconds since 1970
    answered INTEGER NOT NULL DEFAULT 0, -- whether its event has an unused answer
    PRIMARY KEY (run, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX waits_by_event ON waits (event);
