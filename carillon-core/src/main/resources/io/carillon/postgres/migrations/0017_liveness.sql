-- min_code: 1
-- The heartbeat and the progress of attempts.

-- Which attempt reported it. Rows of older code have none.
ALTER TABLE carillon.progress ADD COLUMN attempt int;

-- The requests to cancel runs that a node holds. A function, because its plan must not depend on statistics: cancel_request is rarely analyzed, run may have
-- been analyzed while it was empty or full, and a join of the two is estimated to be so expensive that PostgreSQL compiles it at each heartbeat.
CREATE FUNCTION carillon.cancel_requests_of(p_owner uuid)
RETURNS TABLE (project text, run_id uuid, reason text) LANGUAGE plpgsql COST 1 ROWS 1
SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN QUERY
  SELECT c.project, c.run_id, c.reason
    FROM (SELECT q.project, q.run_id, q.reason FROM carillon.cancel_request q ORDER BY q.project, q.run_id LIMIT 10000) c,
         LATERAL (SELECT 1 FROM carillon.run r
                   WHERE r.project = c.project AND r.id BETWEEN c.run_id AND c.run_id AND r.owner = p_owner
                   ORDER BY r.id LIMIT 1) held;
END $$;

-- Statements inside functions are planned with their own costs, and PostgreSQL would compile those that pass jit_above_cost beside many rows.
ALTER FUNCTION carillon.keep_room() SET jit = off;
ALTER FUNCTION carillon.head(timestamptz, int, int) SET jit = off;
