-- min_code: 1
-- Functions that end, release or park attempts.
--
-- Two statements. Another transaction may write the same run at the same time. If one statement locked a run and
-- wrote it by its ctid, then after a wait the lock would return the ctid of a version that the snapshot of the
-- statement does not see, and the write would find nothing. So each function locks the runs in one statement and
-- writes them in a second one, whose snapshot includes what the first one locked.
--
-- Fence. An attempt is written only while its run has the given owner and attempt number.
--
-- Planner settings. The lock finds a run by the primary key: id BETWEEN ... ORDER BY id LIMIT 1 leaves no other
-- index. The write finds it by its ctid. Sequential scans, bitmap scans and sorts are off, so that neither becomes a
-- scan of a table that was empty when it was analyzed.

-- Locks attempts that are still held, in the given order, and returns the ctid of each and its position in the
-- arrays. Callers sort by id, so that two calls cannot deadlock. With p_wait = false it skips runs that another
-- transaction has locked.
CREATE FUNCTION carillon.lock_attempts(
  p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean)
RETURNS TABLE (row_ctid tid, ordinal bigint) LANGUAGE plpgsql SET jit = off AS $$
BEGIN
  IF p_wait THEN
    RETURN QUERY
    SELECT locked_run.row_ctid, e.ordinal
      FROM unnest(p_projects, p_ids, p_attempts) WITH ORDINALITY AS e(project, id, attempt, ordinal),
           LATERAL (SELECT r.ctid AS row_ctid FROM carillon.run r
                     WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND r.attempt = e.attempt
                       AND r.owner = p_owner
                     ORDER BY r.id LIMIT 1 FOR UPDATE) locked_run;
  ELSE
    RETURN QUERY
    SELECT locked_run.row_ctid, e.ordinal
      FROM unnest(p_projects, p_ids, p_attempts) WITH ORDINALITY AS e(project, id, attempt, ordinal),
           LATERAL (SELECT r.ctid AS row_ctid FROM carillon.run r
                     WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND r.attempt = e.attempt
                       AND r.owner = p_owner
                     ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED) locked_run;
  END IF;
END $$;

-- Deletes the runs of attempts that ended them, and returns the deleted rows. The caller inserts them into run_history.
CREATE FUNCTION carillon.end_attempts(
  p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean)
RETURNS SETOF carillon.run LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_ctids tid[];
BEGIN
  SELECT array_agg(l.row_ctid) INTO v_ctids
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, p_wait) l;
  IF v_ctids IS NULL THEN RETURN; END IF;
  RETURN QUERY DELETE FROM carillon.run r WHERE r.ctid = ANY (v_ctids) RETURNING r.*;
END $$;

-- Returns what a workflow has to undo before it may end: 'none', 'pending', or 'compensating' if it has begun.
CREATE FUNCTION carillon.undo_state(p_project text, p_id uuid) RETURNS text LANGUAGE plpgsql STABLE COST 1
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
  PERFORM 1 FROM carillon.workflow_step s WHERE s.project = p_project AND s.run_id = p_id
    AND s.kind IN ('undo', 'compensate') LIMIT 1;
  IF NOT FOUND THEN RETURN 'none'; END IF;
  PERFORM 1 FROM carillon.workflow_step s WHERE s.project = p_project AND s.run_id = p_id
    AND s.kind IN ('undo', 'compensate') AND s.kind = 'compensate' LIMIT 1;
  RETURN CASE WHEN FOUND THEN 'compensating' ELSE 'pending' END;
END $$;

-- Deletes runs that no node executes, and returns the deleted rows. The caller inserts them into run_history. A
-- workflow that has steps to undo is not deleted but becomes ready: its next attempt reads the request to cancel and
-- undoes them.
-- What it has to undo is read after the lock.
CREATE FUNCTION carillon.end_waiting_runs(p_projects text[], p_ids uuid[], p_wait boolean)
RETURNS SETOF carillon.run LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_ctids tid[];
BEGIN
  IF p_wait THEN
    SELECT array_agg(locked_run.row_ctid) INTO v_ctids
      FROM unnest(p_projects, p_ids) AS e(project, id),
           LATERAL (SELECT r.ctid AS row_ctid FROM carillon.run r
                     WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id
                       AND (r.owner IS NULL OR r.parked = 'awaiting')
                     ORDER BY r.id LIMIT 1 FOR UPDATE) locked_run;
  ELSE
    SELECT array_agg(locked_run.row_ctid) INTO v_ctids
      FROM unnest(p_projects, p_ids) AS e(project, id),
           LATERAL (SELECT r.ctid AS row_ctid FROM carillon.run r
                     WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id
                       AND (r.owner IS NULL OR r.parked = 'awaiting')
                     ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED) locked_run;
  END IF;
  IF v_ctids IS NULL THEN RETURN; END IF;
  UPDATE carillon.run r
     SET ready_at = CASE WHEN r.parked IS NULL THEN carillon.clock() ELSE r.ready_at END,
         gate_arrival_at = CASE WHEN r.parked = 'gate' THEN carillon.clock() END,
         gate_position = CASE WHEN r.parked = 'gate' THEN (extract(epoch FROM carillon.clock()) * 1000000)::bigint
                              ELSE r.gate_position END
   WHERE r.ctid = ANY (v_ctids) AND r.owner IS NULL
     AND (r.parked IS NULL AND r.ready_at > carillon.clock()
             OR r.parked = 'gate' AND r.gate_arrival_at > carillon.clock())
     AND carillon.undo_state(r.project, r.id) = 'pending';
  RETURN QUERY DELETE FROM carillon.run r
   WHERE r.ctid = ANY (v_ctids) AND carillon.undo_state(r.project, r.id) = 'none' RETURNING r.*;
END $$;

-- Releases attempts that are repeated after a delay, and returns their runs. The run did not harm its node, so it is
-- no longer isolated. A run with a concurrency or rate key leaves its place to others and arrives at its gate again
-- when the delay is over. A run with a FIFO key keeps its place, and the runs behind it wait.
CREATE FUNCTION carillon.retry_attempts(
  p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean,
  p_failed boolean[], p_delays float8[])
RETURNS SETOF carillon.run LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_ctids tid[]; v_failed boolean[]; v_delays float8[];
BEGIN
  SELECT array_agg(l.row_ctid), array_agg(p_failed[l.ordinal]), array_agg(p_delays[l.ordinal])
    INTO v_ctids, v_failed, v_delays
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, p_wait) l;
  IF v_ctids IS NULL THEN RETURN; END IF;
  RETURN QUERY
  UPDATE carillon.run r
     SET owner = NULL, leased_until = NULL, started_at = NULL, node_deaths = 0, start_by = 'infinity',
         limited_by = NULL,
         failures = r.failures + CASE WHEN h.failed THEN 1 ELSE 0 END,
         ready_at = CASE WHEN r.gate_key ~ '^(concurrency|rate):' THEN 'infinity' ELSE again.at END,
         parked = CASE WHEN r.gate_key ~ '^(concurrency|rate):' THEN 'gate' END,
         gate_arrival_at = CASE WHEN r.gate_key ~ '^(concurrency|rate):' THEN again.at END,
         gate_position = CASE WHEN r.gate_key ~ '^(concurrency|rate):'
                              THEN (extract(epoch FROM again.at) * 1000000)::bigint END
    FROM unnest(v_ctids, v_failed, v_delays) AS h(row_ctid, failed, delay)
         CROSS JOIN LATERAL (SELECT carillon.clock() + make_interval(secs => h.delay) AS at) again
   WHERE r.ctid = h.row_ctid
  RETURNING r.*;
END $$;

-- Keeps attempts open for callers outside the node, at most for the given seconds, and returns their runs. The new
-- owner is a random id, so that later writes of the node are refused.
CREATE FUNCTION carillon.keep_attempts_open(
  p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean, p_lease_seconds float8[])
RETURNS SETOF carillon.run LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_ctids tid[]; v_lease_seconds float8[];
BEGIN
  SELECT array_agg(l.row_ctid), array_agg(p_lease_seconds[l.ordinal]) INTO v_ctids, v_lease_seconds
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, p_wait) l;
  IF v_ctids IS NULL THEN RETURN; END IF;
  RETURN QUERY
  UPDATE carillon.run r
     SET owner = gen_random_uuid(), parked = 'awaiting', ready_at = 'infinity', start_by = 'infinity', node_deaths = 0,
         leased_until = carillon.clock() + make_interval(secs => h.lease_seconds)
    FROM unnest(v_ctids, v_lease_seconds) AS h(row_ctid, lease_seconds)
   WHERE r.ctid = h.row_ctid
  RETURNING r.*;
END $$;

-- Releases attempts that did not start or had to stop, and returns the ids of their runs. If the handler was called
-- (p_started), the missed policy no longer applies to the run, so start_by becomes infinity. An isolated run stays
-- isolated and keeps its place under the limit of its lane. A run with a rate key waits at its gate again: its claim
-- may have been counted as a start, and the next start must be counted, too.
CREATE FUNCTION carillon.hand_back_attempts(
  p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean, p_started boolean[])
RETURNS SETOF uuid LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_ctids tid[]; v_started boolean[];
BEGIN
  SELECT array_agg(l.row_ctid), array_agg(p_started[l.ordinal]) INTO v_ctids, v_started
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, p_wait) l;
  IF v_ctids IS NULL THEN RETURN; END IF;
  RETURN QUERY
  UPDATE carillon.run r
     SET owner = NULL, leased_until = NULL, started_at = NULL,
         start_by = CASE WHEN h.started THEN 'infinity' ELSE r.start_by END,
         limited_by = CASE WHEN r.parked = 'isolated' THEN r.limited_by END,
         parked = CASE WHEN r.gate_key LIKE 'rate:%' AND r.parked IS DISTINCT FROM 'isolated' THEN 'gate'
                       ELSE nullif(r.parked, 'running') END,
         gate_position = CASE WHEN r.gate_key LIKE 'rate:%' AND r.parked IS DISTINCT FROM 'isolated'
                              THEN (extract(epoch FROM r.due_at) * 1000000)::bigint ELSE r.gate_position END,
         ready_at = CASE WHEN r.gate_key LIKE 'rate:%' AND r.parked IS DISTINCT FROM 'isolated' THEN 'infinity'
                         WHEN r.parked = 'running' THEN carillon.clock() ELSE r.ready_at END
    FROM unnest(v_ctids, v_started) AS h(row_ctid, started)
   WHERE r.ctid = h.row_ctid
  RETURNING r.id;
END $$;

-- Parks attempts that take long, so that claims do not read their runs, and returns the ids of the runs. It skips
-- runs that another transaction has locked; the caller repeats the call.
CREATE FUNCTION carillon.park_attempts(p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[])
RETURNS SETOF uuid LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_ctids tid[];
BEGIN
  SELECT array_agg(l.row_ctid) INTO v_ctids
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, false) l;
  IF v_ctids IS NULL THEN RETURN; END IF;
  RETURN QUERY
  UPDATE carillon.run r SET ready_at = 'infinity', parked = 'running', start_by = 'infinity'
   WHERE r.ctid = ANY (v_ctids)
  RETURNING r.id;
END $$;

-- Returns the gate_position of a run that is parked because no live node has its handler. With a concurrency or rate
-- key it is the largest number: counts read the runs whose gate_position is null, and gates the runs below the largest
-- number, so such runs hold no place and are not read, however many there are. With other keys gate_position does not
-- change: a FIFO key promises an order, so the runs behind wait.
CREATE FUNCTION carillon.gate_position_without_handler(p_gate_key text, p_gate_position bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_gate_key ~ '^(concurrency|rate):' THEN 9223372036854775807 ELSE p_gate_position END
$$;

-- Releases attempts whose handler the owning node does not have. Runs whose handler no live node has are parked as
-- 'no-handler'. The handler was not called, so the missed policy still applies and start_by does not change. For each
-- run it returns the name of the handler if a live node has it, else null.
CREATE FUNCTION carillon.release_attempts_without_handler(
  p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[])
RETURNS SETOF text LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_ctids tid[]; v_live_handlers text[];
BEGIN
  SELECT array_agg(l.row_ctid) INTO v_ctids
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, true) l;
  IF v_ctids IS NULL THEN RETURN; END IF;
  SELECT coalesce(array_agg(DISTINCT h.name), '{}') INTO v_live_handlers
    FROM carillon.node n, unnest(n.handlers) AS h(name) WHERE n.dead_at IS NULL;
  RETURN QUERY
  UPDATE carillon.run r
     SET owner = NULL, leased_until = NULL, started_at = NULL, limited_by = NULL,
         parked = CASE WHEN r.target_name = ANY (v_live_handlers) THEN NULL ELSE 'no-handler' END,
         gate_position = CASE WHEN r.target_name = ANY (v_live_handlers) THEN r.gate_position
                              ELSE carillon.gate_position_without_handler(r.gate_key, r.gate_position) END,
         ready_at = CASE WHEN r.target_name <> ALL (v_live_handlers) THEN 'infinity'
                         WHEN r.ready_at = 'infinity' THEN carillon.clock() ELSE r.ready_at END
   WHERE r.ctid = ANY (v_ctids)
  RETURNING CASE WHEN r.target_name = ANY (v_live_handlers) THEN r.target_name END;
END $$;
