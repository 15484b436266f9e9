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
RETURNS TABLE (place tid, n bigint) LANGUAGE plpgsql SET jit = off AS $$
BEGIN
  IF p_wait THEN
    RETURN QUERY
    SELECT mine.place, e.n
      FROM unnest(p_projects, p_ids, p_attempts) WITH ORDINALITY AS e(project, id, attempt, n),
           LATERAL (SELECT r.ctid AS place FROM carillon.run r
                     WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND r.attempt = e.attempt
                       AND r.owner = p_owner
                     ORDER BY r.id LIMIT 1 FOR UPDATE) mine;
  ELSE
    RETURN QUERY
    SELECT mine.place, e.n
      FROM unnest(p_projects, p_ids, p_attempts) WITH ORDINALITY AS e(project, id, attempt, n),
           LATERAL (SELECT r.ctid AS place FROM carillon.run r
                     WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND r.attempt = e.attempt
                       AND r.owner = p_owner
                     ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED) mine;
  END IF;
END $$;

-- Deletes the runs of attempts that ended them, and returns the deleted rows. The caller inserts them into
-- run_history.
CREATE FUNCTION carillon.end_attempts(
  p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean)
RETURNS SETOF carillon.run LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[];
BEGIN
  SELECT array_agg(l.place) INTO v_places
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, p_wait) l;
  IF v_places IS NULL THEN RETURN; END IF;
  RETURN QUERY DELETE FROM carillon.run r WHERE r.ctid = ANY (v_places) RETURNING r.*;
END $$;

-- Deletes runs that no node executes, and returns the deleted rows. The caller inserts them into run_history.
CREATE FUNCTION carillon.end_waiting(p_projects text[], p_ids uuid[], p_wait boolean)
RETURNS SETOF carillon.run LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[];
BEGIN
  IF p_wait THEN
    SELECT array_agg(mine.place) INTO v_places
      FROM unnest(p_projects, p_ids) AS e(project, id),
           LATERAL (SELECT r.ctid AS place FROM carillon.run r
                     WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id
                       AND (r.owner IS NULL OR r.parked = 'awaiting')
                     ORDER BY r.id LIMIT 1 FOR UPDATE) mine;
  ELSE
    SELECT array_agg(mine.place) INTO v_places
      FROM unnest(p_projects, p_ids) AS e(project, id),
           LATERAL (SELECT r.ctid AS place FROM carillon.run r
                     WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id
                       AND (r.owner IS NULL OR r.parked = 'awaiting')
                     ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED) mine;
  END IF;
  IF v_places IS NULL THEN RETURN; END IF;
  RETURN QUERY DELETE FROM carillon.run r WHERE r.ctid = ANY (v_places) RETURNING r.*;
END $$;

-- Releases attempts that are repeated after a delay, and returns their runs. The run did not harm its node, so it is
-- no longer a suspect. A run with a concurrency or rate key leaves its place to others and arrives at its gate again
-- when the delay is over. A run with a FIFO key keeps its place, and the runs behind it wait.
CREATE FUNCTION carillon.retry_attempts(
  p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean,
  p_failed boolean[], p_pauses float8[])
RETURNS SETOF carillon.run LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[]; v_failed boolean[]; v_pauses float8[];
BEGIN
  SELECT array_agg(l.place), array_agg(p_failed[l.n]), array_agg(p_pauses[l.n]) INTO v_places, v_failed, v_pauses
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, p_wait) l;
  IF v_places IS NULL THEN RETURN; END IF;
  RETURN QUERY
  UPDATE carillon.run r
     SET owner = NULL, leased_until = NULL, started_at = NULL, suspect = 0, start_by = 'infinity', limited_by = NULL,
         failures = r.failures + CASE WHEN h.failed THEN 1 ELSE 0 END,
         ready_at = CASE WHEN r.gate_key ~ '^(concurrency|rate):' THEN 'infinity' ELSE again.at END,
         parked = CASE WHEN r.gate_key ~ '^(concurrency|rate):' THEN 'gate' END,
         gate_at = CASE WHEN r.gate_key ~ '^(concurrency|rate):' THEN again.at END,
         seq = CASE WHEN r.gate_key ~ '^(concurrency|rate):' THEN (extract(epoch FROM again.at) * 1000000)::bigint END
    FROM unnest(v_places, v_failed, v_pauses) AS h(place, failed, pause)
         CROSS JOIN LATERAL (SELECT carillon.clock() + make_interval(secs => h.pause) AS at) again
   WHERE r.ctid = h.place
  RETURNING r.*;
END $$;

-- Keeps attempts open for callers outside the node, at most for the given seconds, and returns their runs. The new
-- owner is a random id, so that later writes of the node are refused.
CREATE FUNCTION carillon.open_attempts(
  p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean, p_at_most float8[])
RETURNS SETOF carillon.run LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[]; v_at_most float8[];
BEGIN
  SELECT array_agg(l.place), array_agg(p_at_most[l.n]) INTO v_places, v_at_most
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, p_wait) l;
  IF v_places IS NULL THEN RETURN; END IF;
  RETURN QUERY
  UPDATE carillon.run r
     SET owner = gen_random_uuid(), parked = 'awaiting', ready_at = 'infinity', start_by = 'infinity', suspect = 0,
         leased_until = carillon.clock() + make_interval(secs => h.at_most)
    FROM unnest(v_places, v_at_most) AS h(place, at_most)
   WHERE r.ctid = h.place
  RETURNING r.*;
END $$;

-- Releases attempts that did not start or had to stop, and returns the ids of their runs. If the handler was called
-- (p_started), the missed policy no longer applies to the run, so start_by becomes infinity. A suspect stays a
-- suspect and keeps its place under the limit of its lane. A run with a rate key waits at its gate again: its claim
-- may have been counted as a start, and the next start must be counted, too.
CREATE FUNCTION carillon.hand_back_attempts(
  p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean, p_started boolean[])
RETURNS SETOF uuid LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[]; v_started boolean[];
BEGIN
  SELECT array_agg(l.place), array_agg(p_started[l.n]) INTO v_places, v_started
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, p_wait) l;
  IF v_places IS NULL THEN RETURN; END IF;
  RETURN QUERY
  UPDATE carillon.run r
     SET owner = NULL, leased_until = NULL, started_at = NULL,
         start_by = CASE WHEN h.started THEN 'infinity' ELSE r.start_by END,
         limited_by = CASE WHEN r.parked = 'suspect' THEN r.limited_by END,
         parked = CASE WHEN r.gate_key LIKE 'rate:%' AND r.parked IS DISTINCT FROM 'suspect' THEN 'gate'
                       ELSE nullif(r.parked, 'running') END,
         seq = CASE WHEN r.gate_key LIKE 'rate:%' AND r.parked IS DISTINCT FROM 'suspect'
                    THEN (extract(epoch FROM r.due_at) * 1000000)::bigint ELSE r.seq END,
         ready_at = CASE WHEN r.gate_key LIKE 'rate:%' AND r.parked IS DISTINCT FROM 'suspect' THEN 'infinity'
                         WHEN r.parked = 'running' THEN carillon.clock() ELSE r.ready_at END
    FROM unnest(v_places, v_started) AS h(place, started)
   WHERE r.ctid = h.place
  RETURNING r.id;
END $$;

-- Parks attempts that take long, so that claims do not read their runs, and returns the ids of the runs. It skips
-- runs that another transaction has locked; the caller repeats the call.
CREATE FUNCTION carillon.park_attempts(p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[])
RETURNS SETOF uuid LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[];
BEGIN
  SELECT array_agg(l.place) INTO v_places
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, false) l;
  IF v_places IS NULL THEN RETURN; END IF;
  RETURN QUERY
  UPDATE carillon.run r SET ready_at = 'infinity', parked = 'running', start_by = 'infinity'
   WHERE r.ctid = ANY (v_places)
  RETURNING r.id;
END $$;

-- Returns the seq of a run that is parked because no live node has its handler. With a concurrency or rate key it is
-- the largest number: counts read the runs whose seq is null, and gates the runs below the largest number, so such
-- runs hold no place and are not read, however many there are. With other keys seq does not change: a FIFO key
-- promises an order, so the runs behind wait.
CREATE FUNCTION carillon.seq_without_handler(p_gate_key text, p_seq bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_gate_key ~ '^(concurrency|rate):' THEN 9223372036854775807 ELSE p_seq END
$$;

-- Releases attempts whose handler the owning node does not have. Runs whose handler no live node has are parked as
-- 'no-handler'. The handler was not called, so the missed policy still applies and start_by does not change. For each
-- run it returns the name of the handler if a live node has it, else null.
CREATE FUNCTION carillon.pass_on_attempts(p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[])
RETURNS SETOF text LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[]; v_known text[];
BEGIN
  SELECT array_agg(l.place) INTO v_places
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, true) l;
  IF v_places IS NULL THEN RETURN; END IF;
  SELECT coalesce(array_agg(DISTINCT h.name), '{}') INTO v_known
    FROM carillon.node n, unnest(n.handlers) AS h(name) WHERE n.dead_at IS NULL;
  RETURN QUERY
  UPDATE carillon.run r
     SET owner = NULL, leased_until = NULL, started_at = NULL, limited_by = NULL,
         parked = CASE WHEN r.target_name = ANY (v_known) THEN NULL ELSE 'no-handler' END,
         seq = CASE WHEN r.target_name = ANY (v_known) THEN r.seq
                    ELSE carillon.seq_without_handler(r.gate_key, r.seq) END,
         ready_at = CASE WHEN r.target_name <> ALL (v_known) THEN 'infinity'
                         WHEN r.ready_at = 'infinity' THEN carillon.clock() ELSE r.ready_at END
   WHERE r.ctid = ANY (v_places)
  RETURNING CASE WHEN r.target_name = ANY (v_known) THEN r.target_name END;
END $$;
