-- min_code: 1
-- transaction: off
-- Who counts towards the limit of a lane. Runs of lanes without a limit are not in it.
DROP INDEX CONCURRENTLY IF EXISTS carillon.run_limited;
CREATE INDEX CONCURRENTLY run_limited ON carillon.run (project, limited_by) WHERE limited_by IS NOT NULL;
