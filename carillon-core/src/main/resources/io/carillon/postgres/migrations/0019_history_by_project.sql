-- min_code: 1
-- transaction: off
-- Runs that ended are looked up within a project, and pages of them stand in the order of their ids: a project reads its own rows only. The migrator first
-- builds the index of each partition beside writers, and this statement takes them over. Applied by hand it builds them all and stops writers meanwhile:
-- to avoid that, CREATE INDEX CONCURRENTLY on each partition before.
CREATE INDEX IF NOT EXISTS run_history_run ON carillon.run_history (project, id);
-- Every look-up by id knows the project.
DROP INDEX IF EXISTS carillon.run_history_id;

-- Pages of a project's runs, newest first, in the order of the index by (project, id): a page costs what it shows. Without statistics the planner expects few
-- rows, and would gather and sort all that the project has; these functions leave it no such choice (decision 24).
CREATE OR REPLACE FUNCTION carillon.run_page(p_project text, p_before uuid, p_queue text, p_handler text, p_schedule uuid, p_state text, p_limit bigint)
RETURNS SETOF carillon.run LANGUAGE plpgsql STABLE
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY
  SELECT r.* FROM carillon.run r
   WHERE r.project = p_project AND r.id < p_before AND (p_queue IS NULL OR r.queue = p_queue) AND (p_handler IS NULL OR r.target_name = p_handler)
     AND (p_schedule IS NULL OR r.schedule_id = p_schedule) AND (p_state IS NULL OR (p_state = 'running') = (r.owner IS NOT NULL))
   ORDER BY r.id DESC LIMIT p_limit;
END $$;

CREATE OR REPLACE FUNCTION carillon.history_page(p_project text, p_before uuid, p_queue text, p_handler text, p_schedule uuid, p_state text, p_limit bigint)
RETURNS SETOF carillon.run_history LANGUAGE plpgsql STABLE
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY
  SELECT h.* FROM carillon.run_history h
   WHERE h.project = p_project AND h.id < p_before AND (p_queue IS NULL OR h.queue = p_queue) AND (p_handler IS NULL OR h.target_name = p_handler)
     AND (p_schedule IS NULL OR h.schedule_id = p_schedule) AND (p_state IS NULL OR h.state = p_state)
   ORDER BY h.id DESC LIMIT p_limit;
END $$;
