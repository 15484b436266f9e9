-- min_code: 1
-- Functions that claim runs and find lanes with work.
--
-- Planner settings. A table that was filled, emptied and then analyzed counts as empty until the next ANALYZE. For the
-- one row that it expects, the planner would collect all rows by a bitmap scan and sort them: a claim of 50 runs out of
-- 300,000 took 158 ms instead of 0.3 ms. These functions turn bitmap scans and sorts off, so that the index with the
-- requested order is the only choice, and JIT compilation, which costs more than the statements themselves. Functions
-- are needed because no setting may remain on a session of the caller's pool, and because a claim is one statement.

-- Returns the handlers that have runs in a priority of a lane, at most 50. It jumps from one handler to the next
-- over the index. A claim that does not know the handlers of a lane calls it; the limit keeps a lane with very
-- many handlers from delaying the claims from other lanes. Nodes find the remaining handlers with
-- carillon.queue_head and carillon.scan_lanes.
CREATE FUNCTION carillon.handlers_in_lane(p_queue text, p_project text, p_priority smallint)
RETURNS SETOF text LANGUAGE plpgsql COST 1 ROWS 1
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_handler text;
BEGIN
  SELECT r.target_name INTO v_handler FROM carillon.run r
   WHERE r.queue = p_queue AND r.project = p_project AND r.priority = p_priority ORDER BY r.target_name LIMIT 1;
  FOR i IN 1 .. 50 LOOP
    EXIT WHEN v_handler IS NULL;
    RETURN NEXT v_handler;
    SELECT r.target_name INTO v_handler FROM carillon.run r
     WHERE r.queue = p_queue AND r.project = p_project AND r.priority = p_priority AND r.target_name > v_handler
     ORDER BY r.target_name LIMIT 1;
  END LOOP;
END $$;

-- Locks the first due runs of a priority of a lane, at most p_limit, and returns their ctids. It considers the runs of
-- p_handlers or, if that is empty, of all handlers except p_unknown_handlers. Runs with ready_at before p_ready_from
-- are not read: the caller knows that none of them can be claimed. The handlers get equal shares of p_limit; what one
-- handler does not use goes to the others. The function declares one row and a cost of 1, so that the server can keep
-- one plan for claims from any number of lanes.
CREATE FUNCTION carillon.claim_candidates(
  p_queue text, p_project text, p_priority smallint, p_ready_from timestamptz, p_limit int,
  p_handlers text[], p_unknown_handlers text[])
RETURNS SETOF tid LANGUAGE plpgsql COST 1 ROWS 1
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_handlers text[] := p_handlers;
  v_taken int[] := '{}';
  v_shares int[] := '{}';
  v_remaining int := p_limit;
  v_found int;
  v_share int;
BEGIN
  IF cardinality(v_handlers) = 0 THEN
    v_handlers := array(SELECT name FROM carillon.handlers_in_lane(p_queue, p_project, p_priority) AS name
                         WHERE name <> ALL (p_unknown_handlers));
  END IF;
  FOR i IN 1 .. cardinality(v_handlers) LOOP
    v_share := ceil(v_remaining::float8 / (cardinality(v_handlers) - i + 1));
    RETURN QUERY
    SELECT r.ctid FROM carillon.run r
     WHERE r.queue = p_queue AND r.project = p_project AND r.priority = p_priority AND r.target_name = v_handlers[i]
       AND r.ready_at BETWEEN p_ready_from AND carillon.clock() AND r.start_by > carillon.clock() AND r.owner IS NULL
     ORDER BY r.ready_at LIMIT v_share
     FOR UPDATE SKIP LOCKED;
    GET DIAGNOSTICS v_found = ROW_COUNT;
    v_taken[i] := v_found;
    v_shares[i] := v_share;
    v_remaining := v_remaining - v_found;
    EXIT WHEN v_remaining = 0;
  END LOOP;
  -- Distribute what later handlers left over. SKIP LOCKED does not skip rows that this transaction has locked itself,
  -- hence the offset.
  FOR i IN 1 .. cardinality(v_taken) - 1 LOOP
    EXIT WHEN v_remaining = 0;
    CONTINUE WHEN v_taken[i] < v_shares[i];
    RETURN QUERY
    SELECT r.ctid FROM carillon.run r
     WHERE r.queue = p_queue AND r.project = p_project AND r.priority = p_priority AND r.target_name = v_handlers[i]
       AND r.ready_at BETWEEN p_ready_from AND carillon.clock() AND r.start_by > carillon.clock() AND r.owner IS NULL
     ORDER BY r.ready_at LIMIT v_remaining OFFSET v_taken[i]
     FOR UPDATE SKIP LOCKED;
    GET DIAGNOSTICS v_found = ROW_COUNT;
    v_remaining := v_remaining - v_found;
  END LOOP;
END $$;

-- Locks the first due runs of several lanes and returns their ctids. Each position of the arrays is a priority of a
-- lane with the handlers to claim for, separated by spaces, as in the function above. Paused and limited lanes are
-- left out before a row is locked (OFFSET ensures it); otherwise rows would be locked and not claimed. A lane with one
-- handler, which is the common case, is one index range of one statement: a call of the function above for each lane
-- took longer than the reading of its runs, because each call sets and resets the planner settings.
CREATE FUNCTION carillon.claim_candidates(
  p_queues text[], p_projects text[], p_priorities smallint[], p_ready_froms timestamptz[], p_limits int[],
  p_handlers text[], p_unknown_handlers text[])
RETURNS SETOF tid LANGUAGE plpgsql COST 1 ROWS 1
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY
  SELECT first.row_ctid
    FROM (SELECT * FROM unnest(p_queues, p_projects, p_priorities, p_ready_froms, p_limits, p_handlers)
                          AS requested(queue, project, priority, ready_from, wanted, handler)
           WHERE requested.handler <> '' AND strpos(requested.handler, ' ') = 0
             AND NOT EXISTS (SELECT 1 FROM carillon.lane p
                              WHERE p.queue = requested.queue AND p.project = requested.project
                                AND (p.paused_at IS NOT NULL OR p.max_running IS NOT NULL OR p.rate IS NOT NULL
                                     OR p.breaker <> 'closed'))
          OFFSET 0) l,
         LATERAL (SELECT r.ctid AS row_ctid FROM carillon.run r
                   WHERE r.queue = l.queue AND r.project = l.project AND r.priority = l.priority
                     AND r.target_name = l.handler AND r.ready_at BETWEEN l.ready_from AND carillon.clock()
                     AND r.start_by > carillon.clock() AND r.owner IS NULL
                   ORDER BY r.ready_at LIMIT l.wanted
                   FOR UPDATE SKIP LOCKED) first;
  IF EXISTS (SELECT 1 FROM unnest(p_handlers) AS handler WHERE handler = '' OR strpos(handler, ' ') > 0) THEN
    RETURN QUERY
    SELECT row_ctid
      FROM (SELECT * FROM unnest(p_queues, p_projects, p_priorities, p_ready_froms, p_limits, p_handlers)
                            AS requested(queue, project, priority, ready_from, wanted, handlers)
             WHERE (requested.handlers = '' OR strpos(requested.handlers, ' ') > 0)
               AND NOT EXISTS (SELECT 1 FROM carillon.lane p
                                WHERE p.queue = requested.queue AND p.project = requested.project
                                  AND (p.paused_at IS NOT NULL OR p.max_running IS NOT NULL OR p.rate IS NOT NULL
                                       OR p.breaker <> 'closed'))
            OFFSET 0) l,
           carillon.claim_candidates(l.queue, l.project, l.priority, l.ready_from, l.wanted,
                                     string_to_array(l.handlers, ' '), p_unknown_handlers) AS row_ctid;
  END IF;
END $$;

-- Returns the first p_due_limit runs of all lanes that are due, from p_ready_from on, and the first p_upcoming_limit
-- runs that are not due yet. Nodes learn from it which lanes have work, and when the next run is due.
CREATE FUNCTION carillon.queue_head(p_ready_from timestamptz, p_due_limit int, p_upcoming_limit int)
RETURNS TABLE (due boolean, queue text, project text, priority smallint, target_name text, ready_at timestamptz)
LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY
  SELECT true, r.queue, r.project, r.priority, r.target_name, r.ready_at FROM carillon.run r
   WHERE r.ready_at >= p_ready_from AND r.ready_at <= carillon.clock() AND r.ready_at < 'infinity' AND r.owner IS NULL
     AND r.start_by > carillon.clock()
   ORDER BY r.ready_at LIMIT p_due_limit;
  RETURN QUERY
  SELECT false, r.queue, r.project, r.priority, r.target_name, r.ready_at FROM carillon.run r
   WHERE r.ready_at > carillon.clock() AND r.ready_at < 'infinity' AND r.owner IS NULL
   ORDER BY r.ready_at LIMIT p_upcoming_limit;
END $$;

-- Returns the next p_limit combinations of lane, priority and handler after the given one, with the time of their
-- first run that can be claimed now or later; null: there is none, or the lane is paused. It jumps from one
-- combination to the next over the index, about 12 microseconds each, however many runs they have. Callers read
-- 200,000 combinations in parts, so that no claim waits for all of them.
CREATE FUNCTION carillon.scan_lanes(p_queue text, p_project text, p_priority smallint, p_handler text, p_limit int)
RETURNS TABLE (queue text, project text, priority smallint, target_name text, ready_at timestamptz) LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY
  WITH RECURSIVE found AS (
    (SELECT r.queue, r.project, r.priority, r.target_name, r.ready_at FROM carillon.run r
      WHERE (r.project, r.queue, r.priority, r.target_name) > (p_project, p_queue, p_priority, p_handler)
      ORDER BY r.project, r.queue, r.priority, r.target_name, r.ready_at LIMIT 1)
    UNION ALL
    SELECT next.*
      FROM found, LATERAL (SELECT r.queue, r.project, r.priority, r.target_name, r.ready_at FROM carillon.run r
                            WHERE (r.project, r.queue, r.priority, r.target_name)
                                  > (found.project, found.queue, found.priority, found.target_name)
                            ORDER BY r.project, r.queue, r.priority, r.target_name, r.ready_at LIMIT 1) next)
  SELECT s.queue, s.project, s.priority, s.target_name,
         CASE WHEN NOT EXISTS (SELECT 1 FROM carillon.lane p
                                WHERE p.queue = s.queue AND p.project = s.project AND p.paused_at IS NOT NULL)
              THEN first.ready_at END
    FROM (SELECT * FROM found LIMIT p_limit) s
    LEFT JOIN LATERAL (SELECT r.ready_at FROM carillon.run r
                        WHERE r.queue = s.queue AND r.project = s.project AND r.priority = s.priority
                          AND r.target_name = s.target_name AND r.ready_at >= s.ready_at AND r.ready_at < 'infinity'
                          AND r.owner IS NULL AND r.start_by > carillon.clock()
                        ORDER BY r.ready_at LIMIT 1) first ON true;
END $$;

-- Returns the ctids of runs of a lane that are held and do not count towards the limit of the lane yet. It finds them
-- by the claim records of the nodes and by leases; with p_include_parked, also among parked runs, including isolated
-- runs that wait for their next attempt. It does not read waiting runs. SECURITY DEFINER, because a caller with the
-- role carillon_api may not read claim records; it returns ctids only.
CREATE FUNCTION carillon.uncounted_runs_in_lane(p_queue text, p_project text, p_include_parked boolean)
RETURNS SETOF tid LANGUAGE plpgsql COST 1000
SECURITY DEFINER SET search_path = pg_catalog SET enable_seqscan = off SET jit = off AS $$
BEGIN
  IF p_include_parked THEN
    RETURN QUERY
    SELECT r.ctid FROM carillon.run r
     WHERE r.parked IN ('running', 'isolated', 'awaiting') AND r.queue = p_queue AND r.project = p_project
       AND r.limited_by IS NULL AND (r.owner IS NOT NULL OR r.parked = 'isolated');
    RETURN QUERY
    SELECT r.ctid FROM carillon.run r
     WHERE r.leased_until IS NOT NULL AND r.queue = p_queue AND r.project = p_project AND r.limited_by IS NULL
       AND r.owner IS NOT NULL;
  ELSE
    -- Recent claims have short leases. The last call, with p_include_parked, finds longer leases.
    RETURN QUERY
    SELECT r.ctid FROM carillon.run r
     WHERE r.leased_until BETWEEN carillon.clock() AND carillon.clock() + interval '1 h' AND r.queue = p_queue
       AND r.project = p_project AND r.limited_by IS NULL AND r.owner IS NOT NULL;
  END IF;
  RETURN QUERY
  SELECT held_run.row_ctid
    FROM carillon.claim_record n, unnest(n.run_ids) WITH ORDINALITY AS recorded(id, number),
         LATERAL (SELECT r.ctid AS row_ctid FROM carillon.run r
                   WHERE r.project = coalesce(n.projects[recorded.number::int], n.projects[1])
                     AND r.id BETWEEN recorded.id AND recorded.id AND r.project = p_project AND r.queue = p_queue
                     AND r.owner IS NOT NULL AND r.limited_by IS NULL
                   ORDER BY r.id LIMIT 1) held_run
   WHERE p_project = ANY (n.projects);
END $$;

-- Makes the held runs of a lane count towards its limit, and returns how many of them it could not write. Claims call
-- it while a limit is new, until no claim that started without the limit can be left. It waits for no lock. A ctid
-- can be outdated, so the conditions are checked again under the lock.
CREATE FUNCTION carillon.mark_running_as_limited(p_queue text, p_project text, p_include_parked boolean)
RETURNS int LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_ctids tid[]; v_locked_ctids tid[];
BEGIN
  v_ctids := array(SELECT DISTINCT row_ctid
                     FROM carillon.uncounted_runs_in_lane(p_queue, p_project, p_include_parked) AS row_ctid);
  v_locked_ctids := array(SELECT r.ctid FROM carillon.run r
                           WHERE r.ctid = ANY (v_ctids) AND r.queue = p_queue AND r.project = p_project
                             AND r.limited_by IS NULL AND (r.owner IS NOT NULL OR r.parked = 'isolated')
                             FOR NO KEY UPDATE SKIP LOCKED);
  UPDATE carillon.run r SET limited_by = r.queue WHERE r.ctid = ANY (v_locked_ctids);
  RETURN cardinality(v_ctids) - cardinality(v_locked_ctids);
END $$;
