-- The JSON Schema of the answer to a wait, for whoever is to answer.
ALTER TABLE @.waits ADD COLUMN schema text;
