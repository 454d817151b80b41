-- Appending lines doesn't update the row of the run any longer. So `lines` is how many there were at least,
-- and exact where nobody works on the run. Every change other than appending lines increments the version,
-- so that lines can only be appended to those that the writer has seen.
ALTER TABLE @.runs ADD COLUMN version bigint NOT NULL DEFAULT 0;

-- Every statement that adds lines locks the row of the run, so the check of the foreign key would only look for it
-- once more.
ALTER TABLE @.lines DROP CONSTRAINT lines_run_fkey;

CREATE FUNCTION @.remove_lines() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        DELETE FROM @.lines WHERE run = OLD.key;
        RETURN NULL;
    END
$$;

CREATE TRIGGER remove_lines AFTER DELETE ON @.runs FOR EACH ROW EXECUTE FUNCTION @.remove_lines();
