-- min_code: 1
-- Functions that list runs and queues of a project for people.
--
-- Planner settings. Without statistics the planner expects few rows, and would collect and sort all runs of the
-- project. With bitmap scans and sorts off, a page costs what it shows.

-- Returns a page of the waiting and running runs of a project with an id below p_before, newest first. A filter that
-- is null does not apply.
CREATE FUNCTION carillon.run_page(
  p_project text, p_before uuid, p_queue text, p_handler text, p_schedule uuid, p_state text, p_limit bigint)
RETURNS SETOF carillon.run LANGUAGE plpgsql STABLE
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY
  SELECT r.* FROM carillon.run r
   WHERE r.project = p_project AND r.id < p_before AND (p_queue IS NULL OR r.queue = p_queue)
     AND (p_handler IS NULL OR r.target_name = p_handler) AND (p_schedule IS NULL OR r.schedule_id = p_schedule)
     AND (p_state IS NULL OR (p_state = 'running') = (r.owner IS NOT NULL))
   ORDER BY r.id DESC LIMIT p_limit;
END $$;

-- Returns a page of the ended runs of a project with an id below p_before, newest first. A filter that is null does
-- not apply.
CREATE FUNCTION carillon.history_page(
  p_project text, p_before uuid, p_queue text, p_handler text, p_schedule uuid, p_state text, p_limit bigint)
RETURNS SETOF carillon.run_history LANGUAGE plpgsql STABLE
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY
  SELECT h.* FROM carillon.run_history h
   WHERE h.project = p_project AND h.id < p_before AND (p_queue IS NULL OR h.queue = p_queue)
     AND (p_handler IS NULL OR h.target_name = p_handler) AND (p_schedule IS NULL OR h.schedule_id = p_schedule)
     AND (p_state IS NULL OR h.state = p_state)
   ORDER BY h.id DESC LIMIT p_limit;
END $$;

-- Counts the runs of a project that match, among the first p_rows waiting and running runs (by id, or within the queue
-- if p_queue is given), or among the first p_rows dead runs. The column complete says whether these are all. It reads
-- no more than p_rows rows, however few of them match. A filter that is null does not apply.
CREATE FUNCTION carillon.count_runs(
  p_project text, p_queue text, p_handler text, p_state text, p_rows bigint, OUT matching bigint, OUT complete boolean)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_read bigint;
BEGIN
  IF p_state NOT IN ('waiting', 'running') THEN
    SELECT count(*), count(*) FILTER (WHERE d.state = p_state AND (p_queue IS NULL OR d.queue = p_queue)
                                        AND (p_handler IS NULL OR d.target_name = p_handler))
      INTO v_read, matching
      FROM (SELECT * FROM carillon.dead_run WHERE project = p_project ORDER BY id LIMIT p_rows) d;
  ELSIF p_queue IS NULL THEN
    SELECT count(*), count(*) FILTER (WHERE (p_state = 'running') = (r.owner IS NOT NULL)
                                        AND (p_handler IS NULL OR r.target_name = p_handler))
      INTO v_read, matching
      FROM (SELECT * FROM carillon.run WHERE project = p_project ORDER BY id LIMIT p_rows) r;
  ELSE
    SELECT count(*), count(*) FILTER (WHERE (p_state = 'running') = (r.owner IS NOT NULL)
                                        AND (p_handler IS NULL OR r.target_name = p_handler))
      INTO v_read, matching
      FROM (SELECT * FROM carillon.run WHERE queue = p_queue AND project = p_project
             ORDER BY priority, target_name, ready_at LIMIT p_rows) r;
  END IF;
  complete := v_read < p_rows;
END $$;

-- Returns the names of the queues in which a project has runs. It jumps from one name to the next over the index, so
-- that it costs the number of these queues, however many runs they have and however many queues other projects have.
CREATE FUNCTION carillon.queue_names(p_project text)
RETURNS SETOF text LANGUAGE plpgsql STABLE ROWS 100
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_name text;
BEGIN
  SELECT r.queue INTO v_name FROM carillon.run r WHERE r.project = p_project ORDER BY r.queue LIMIT 1;
  WHILE v_name IS NOT NULL LOOP
    RETURN NEXT v_name;
    SELECT r.queue INTO v_name FROM carillon.run r WHERE r.project = p_project AND r.queue > v_name
     ORDER BY r.queue LIMIT 1;
  END LOOP;
END $$;
