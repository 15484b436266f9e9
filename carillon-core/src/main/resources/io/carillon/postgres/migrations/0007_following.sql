-- min_code: 1
-- transaction: off
-- An interval that follows its lane's backlog keeps its present length in the expression and its last instant in the anchor.
ALTER TABLE carillon.schedule
  ADD COLUMN IF NOT EXISTS adaptive_at timestamptz,                        -- the cursor at which the backlog was looked at
  ADD COLUMN IF NOT EXISTS adaptive_backlog bigint NOT NULL DEFAULT 0;     -- how many runs waited then
-- Those still to be looked at, and nothing else.
DROP INDEX CONCURRENTLY IF EXISTS carillon.schedule_adaptive;
CREATE INDEX CONCURRENTLY schedule_adaptive ON carillon.schedule (cursor)
  WHERE adaptive_min IS NOT NULL AND paused_at IS NULL AND adaptive_at IS DISTINCT FROM cursor;
-- Those that newer time zone rules may move: UTC has none.
DROP INDEX CONCURRENTLY IF EXISTS carillon.schedule_tzdata;
CREATE INDEX CONCURRENTLY schedule_tzdata ON carillon.schedule (tzdata COLLATE "C")
  WHERE kind <> 'once' AND zone <> 'UTC' AND zone <> 'Z';
