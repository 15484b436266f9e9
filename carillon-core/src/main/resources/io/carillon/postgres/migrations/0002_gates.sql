-- min_code: 1
-- Runs that wait behind a gate. No row keeps a count: whoever is through the gate and has not ended is counted when the next one asks, so that no
-- crash can leave a count behind that is wrong. All of it is null for runs without a gate.
ALTER TABLE carillon.run
  ADD COLUMN gate_max integer,         -- how many of its gate may be through when it passes; null: one
  ADD COLUMN gate_at timestamptz;      -- when it arrives at the gate; null: it is there, or through
COMMENT ON COLUMN carillon.run.seq IS 'its place in the line before its gate; null: it is through, or has none';
ALTER TABLE carillon.dead_run ADD COLUMN gate_max integer;

-- The order of strict lines; taken under the key's lock, so that it is the order of commits.
CREATE SEQUENCE carillon.gate_seq;
