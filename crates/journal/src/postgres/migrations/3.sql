-- Where a run was forked from, as JSON.
ALTER TABLE @.runs ADD COLUMN fork text;
