-- min_code: 1
-- Functions that list runs and queues of a project for people, and page through the runs of a bulk action.
--
-- Planner settings. Without statistics the planner expects few rows, and would collect and sort all runs of the
-- project. With bitmap scans and sorts off, a page costs what it shows.

-- Returns a page of the waiting and running runs of a project with an id below p_before and not below p_read_to, newest
-- first. A filter that is null does not apply. p_error is a text in an error of an attempt. A subquery with LIMIT is
-- executed for each run; with EXISTS the planner might read the attempts of all runs.
CREATE FUNCTION carillon.run_page(
  p_project text, p_before uuid, p_read_to uuid, p_queue text, p_not_queue text, p_handler text, p_not_handler text,
  p_schedule uuid, p_state text, p_not_state text, p_from timestamptz, p_to timestamptz, p_workflow boolean,
  p_error text, p_payload text, p_limit bigint)
RETURNS SETOF carillon.run LANGUAGE plpgsql STABLE
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY
  SELECT r.* FROM carillon.run r
   WHERE r.project = p_project AND r.id < p_before AND r.id >= p_read_to
     AND (p_queue IS NULL OR r.queue = p_queue) AND (p_not_queue IS NULL OR r.queue <> p_not_queue)
     AND (p_handler IS NULL OR r.target_name = p_handler)
     AND (p_not_handler IS NULL OR r.target_name <> p_not_handler)
     AND (p_schedule IS NULL OR r.schedule_id = p_schedule)
     AND (p_state IS NULL OR (p_state = 'running') = (r.owner IS NOT NULL))
     AND (p_not_state IS NULL OR p_not_state <> CASE WHEN r.owner IS NULL THEN 'waiting' ELSE 'running' END)
     AND (p_from IS NULL OR r.created_at >= p_from) AND (p_to IS NULL OR r.created_at <= p_to)
     AND (NOT p_workflow OR (SELECT true FROM carillon.workflow_step s
                              WHERE s.project = r.project AND s.run_id = r.id LIMIT 1))
     AND (p_error IS NULL OR (r.failures > 0 AND (
            SELECT true FROM carillon.attempt a
             WHERE a.project = r.project AND a.run_id = r.id AND position(lower(p_error) IN lower(a.error)) > 0
             LIMIT 1)))
     AND (p_payload IS NULL OR position(convert_to(p_payload, 'UTF8') IN r.payload) > 0)
   ORDER BY r.id DESC LIMIT p_limit;
END $$;

-- Returns a page of the ended runs of a project with an id below p_before and not below p_read_to, newest first. A
-- filter that is null does not apply. p_error is a text in the reason why the run ended.
CREATE FUNCTION carillon.history_page(
  p_project text, p_before uuid, p_read_to uuid, p_queue text, p_not_queue text, p_handler text, p_not_handler text,
  p_schedule uuid, p_state text, p_not_state text, p_from timestamptz, p_to timestamptz, p_workflow boolean,
  p_error text, p_payload text, p_limit bigint)
RETURNS SETOF carillon.run_history LANGUAGE plpgsql STABLE
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY
  SELECT h.* FROM carillon.run_history h
   WHERE h.project = p_project AND h.id < p_before AND h.id >= p_read_to
     AND (p_queue IS NULL OR h.queue = p_queue) AND (p_not_queue IS NULL OR h.queue <> p_not_queue)
     AND (p_handler IS NULL OR h.target_name = p_handler)
     AND (p_not_handler IS NULL OR h.target_name <> p_not_handler)
     AND (p_schedule IS NULL OR h.schedule_id = p_schedule)
     AND (p_state IS NULL OR h.state = p_state) AND (p_not_state IS NULL OR h.state <> p_not_state)
     AND (p_from IS NULL OR h.created_at >= p_from) AND (p_to IS NULL OR h.created_at <= p_to)
     AND (NOT p_workflow
          OR (SELECT true FROM carillon.workflow_step s WHERE s.project = h.project AND s.run_id = h.id LIMIT 1)
          OR (SELECT true FROM carillon.workflow_step_history s
               WHERE s.project = h.project AND s.run_id = h.id AND s.day = h.day LIMIT 1))
     AND (p_error IS NULL OR position(lower(p_error) IN lower(h.reason)) > 0)
     AND (p_payload IS NULL OR position(convert_to(p_payload, 'UTF8') IN coalesce(h.payload, (
            SELECT d.payload FROM carillon.dead_run d WHERE d.project = h.project AND d.id = h.id))) > 0)
   ORDER BY h.id DESC LIMIT p_limit;
END $$;

-- Returns the last of the p_rows newest waiting and running runs of a project with an id below p_before and not below
-- p_read_to; null if there are fewer. A page that reads no further costs at most p_rows rows, however few of them
-- match.
CREATE FUNCTION carillon.run_read_to(p_project text, p_before uuid, p_read_to uuid, p_rows bigint)
RETURNS uuid LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN (SELECT r.id FROM carillon.run r WHERE r.project = p_project AND r.id < p_before AND r.id >= p_read_to
           ORDER BY r.id DESC OFFSET p_rows - 1 LIMIT 1);
END $$;

-- Like run_read_to, for ended runs.
CREATE FUNCTION carillon.history_read_to(p_project text, p_before uuid, p_read_to uuid, p_rows bigint)
RETURNS uuid LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN (SELECT h.id FROM carillon.run_history h WHERE h.project = p_project AND h.id < p_before AND h.id >= p_read_to
           ORDER BY h.id DESC OFFSET p_rows - 1 LIMIT 1);
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

-- Returns the number of waiting and running runs of a project, or of one of its queues, counted up to p_rows.
CREATE FUNCTION carillon.count_live_runs(p_project text, p_queue text, p_rows bigint)
RETURNS bigint LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  IF p_queue IS NULL THEN
    RETURN (SELECT count(*)
              FROM (SELECT 1 FROM carillon.run r WHERE r.project = p_project ORDER BY r.id LIMIT p_rows) few);
  END IF;
  RETURN (SELECT count(*)
            FROM (SELECT 1 FROM carillon.run r WHERE r.project = p_project AND r.queue = p_queue
                   ORDER BY r.priority, r.target_name, r.ready_at LIMIT p_rows) few);
END $$;

-- Counts the waiting and running runs of queues of a project. It reads at most p_rows rows of all queues together (but
-- one row of each queue). Each queue gets an equal share of the first half. Queues with more runs than that are
-- counted once more with what is left. The column complete says whether these are all runs of the queue. waiting_since
-- is the time from which the oldest of the counted runs waits: when it was due, or when its next attempt was; null:
-- none is due.
CREATE FUNCTION carillon.count_runs_of_queues(p_project text, p_queues text[], p_rows bigint)
RETURNS TABLE (queue text, waiting bigint, running bigint, complete boolean, waiting_since timestamptz)
LANGUAGE plpgsql STABLE ROWS 100
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_queues bigint := coalesce(cardinality(p_queues), 0);
  v_share bigint := CASE WHEN v_queues = 1 THEN p_rows ELSE greatest(p_rows / 2 / greatest(v_queues, 1), 1) END;
  v_waiting_by_queue bigint[];
  v_running_by_queue bigint[];
  v_since_by_queue timestamptz[];
  v_large bigint := 0;
  v_left bigint := p_rows;
  v_now timestamptz := carillon.clock();
BEGIN
  FOR i IN 1 .. v_queues LOOP
    SELECT count(*) FILTER (WHERE head.owner IS NULL), count(*) FILTER (WHERE head.owner IS NOT NULL),
           min(head.since) FILTER (WHERE head.owner IS NULL AND head.since <= v_now)
      INTO waiting, running, waiting_since
      FROM (SELECT r.owner, CASE WHEN r.ready_at = 'infinity' THEN r.due_at ELSE r.ready_at END AS since
              FROM carillon.run r WHERE r.project = p_project AND r.queue = p_queues[i]
             ORDER BY r.priority, r.target_name, r.ready_at LIMIT v_share) head;
    v_waiting_by_queue[i] := waiting;
    v_running_by_queue[i] := running;
    v_since_by_queue[i] := waiting_since;
    v_left := v_left - waiting - running;
    IF waiting + running = v_share THEN
      v_large := v_large + 1;
    END IF;
  END LOOP;
  FOR i IN 1 .. v_queues LOOP
    queue := p_queues[i];
    waiting := v_waiting_by_queue[i];
    running := v_running_by_queue[i];
    waiting_since := v_since_by_queue[i];
    complete := waiting + running < v_share;
    IF NOT complete THEN
      IF v_left / v_large > v_share THEN
        SELECT count(*) FILTER (WHERE head.owner IS NULL), count(*) FILTER (WHERE head.owner IS NOT NULL),
               min(head.since) FILTER (WHERE head.owner IS NULL AND head.since <= v_now)
          INTO waiting, running, waiting_since
          FROM (SELECT r.owner, CASE WHEN r.ready_at = 'infinity' THEN r.due_at ELSE r.ready_at END AS since
                  FROM carillon.run r WHERE r.project = p_project AND r.queue = p_queues[i]
                 ORDER BY r.priority, r.target_name, r.ready_at LIMIT v_left / v_large) head;
        complete := waiting + running < v_left / v_large;
        v_left := v_left - waiting - running;
      END IF;
      v_large := v_large - 1;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;

-- Returns the first p_limit names of the queues in which a project has runs. It jumps from one name to the next over
-- the index, so that it costs the number of these queues, however many runs they have and however many queues other
-- projects have.
CREATE FUNCTION carillon.queue_names(p_project text, p_limit int)
RETURNS SETOF text LANGUAGE plpgsql STABLE ROWS 100
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_name text;
  v_returned int := 0;
BEGIN
  SELECT r.queue INTO v_name FROM carillon.run r WHERE r.project = p_project ORDER BY r.queue LIMIT 1;
  WHILE v_name IS NOT NULL AND v_returned < p_limit LOOP
    RETURN NEXT v_name;
    v_returned := v_returned + 1;
    SELECT r.queue INTO v_name FROM carillon.run r WHERE r.project = p_project AND r.queue > v_name
     ORDER BY r.queue LIMIT 1;
  END LOOP;
END $$;

-- Returns the largest id of the waiting and running runs of a project, or of its dead runs; null if it has none.
CREATE FUNCTION carillon.last_run_id(p_project text, p_dead boolean)
RETURNS uuid LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  IF p_dead THEN
    RETURN (SELECT d.id FROM carillon.dead_run d WHERE d.project = p_project ORDER BY d.id DESC LIMIT 1);
  END IF;
  RETURN (SELECT r.id FROM carillon.run r WHERE r.project = p_project ORDER BY r.id DESC LIMIT 1);
END $$;

-- Returns the next runs that a bulk action changes: ids of runs that match, at most p_limit, in their order, after
-- p_after and up to p_last, that existed (or were dead) at p_existing_at. It reads at most p_rows rows of the table,
-- however few of them match. The column read_to is the id up to which all runs were read; null: up to p_last. A filter
-- that is null does not apply. Ids are the only order that no action changes; there is no index by queue and id, so a
-- queue with at most p_rows runs is read as a whole instead of walking over all runs of the project.
CREATE FUNCTION carillon.bulk_page(
  p_project text, p_after uuid, p_last uuid, p_existing_at timestamptz, p_queue text, p_handler text, p_state text,
  p_rows bigint, p_limit bigint, OUT ids uuid[], OUT read_to uuid)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_runs_of_queue bigint;
BEGIN
  IF p_state NOT IN ('waiting', 'running') THEN
    ids := array(
      SELECT d.id
        FROM (SELECT * FROM carillon.dead_run WHERE project = p_project AND id > p_after AND id <= p_last
               ORDER BY id LIMIT p_rows) d
       WHERE d.state = p_state AND d.died_at <= p_existing_at AND (p_queue IS NULL OR d.queue = p_queue)
         AND (p_handler IS NULL OR d.target_name = p_handler)
       LIMIT p_limit);
    IF cardinality(ids) < p_limit THEN
      SELECT d.id INTO read_to FROM carillon.dead_run d
       WHERE d.project = p_project AND d.id > p_after AND d.id <= p_last ORDER BY d.id OFFSET p_rows - 1 LIMIT 1;
    END IF;
  ELSE
    IF p_queue IS NOT NULL THEN
      SELECT count(*) INTO v_runs_of_queue
        FROM (SELECT 1 FROM carillon.run r WHERE r.project = p_project AND r.queue = p_queue
               ORDER BY r.priority, r.target_name, r.ready_at LIMIT p_rows + 1) few;
    END IF;
    IF v_runs_of_queue <= p_rows THEN
      WITH small_queue AS MATERIALIZED (
        SELECT * FROM carillon.run r WHERE r.project = p_project AND r.queue = p_queue
         ORDER BY r.priority, r.target_name, r.ready_at LIMIT p_rows)
      SELECT array(
        SELECT r.id FROM small_queue r
         WHERE r.id > p_after AND r.id <= p_last AND r.created_at <= p_existing_at
           AND (p_state = 'running') = (r.owner IS NOT NULL) AND (p_handler IS NULL OR r.target_name = p_handler)
         ORDER BY r.id LIMIT p_limit) INTO ids;
    ELSE
      ids := array(
        SELECT r.id
          FROM (SELECT * FROM carillon.run WHERE project = p_project AND id > p_after AND id <= p_last
                 ORDER BY id LIMIT p_rows) r
         WHERE r.created_at <= p_existing_at AND (p_state = 'running') = (r.owner IS NOT NULL)
           AND (p_queue IS NULL OR r.queue = p_queue) AND (p_handler IS NULL OR r.target_name = p_handler)
         LIMIT p_limit);
      IF cardinality(ids) < p_limit THEN
        SELECT r.id INTO read_to FROM carillon.run r
         WHERE r.project = p_project AND r.id > p_after AND r.id <= p_last ORDER BY r.id OFFSET p_rows - 1 LIMIT 1;
      END IF;
    END IF;
  END IF;
  IF cardinality(ids) = p_limit THEN
    read_to := ids[p_limit];
  END IF;
END $$;
