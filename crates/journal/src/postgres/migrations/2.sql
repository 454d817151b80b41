-- Appending lines doesn't update the row of the run any longer. So `lines` is how many there were at least,
-- and exact where nobody works on the run. Every change other than appending lines increments the version,
-- so that lines can only be appended to those that the writer has seen.
ALTER TABLE @.runs ADD COLUMN version bigint NOT NULL DEFAULT 0;
