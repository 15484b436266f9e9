-- min_code: 1
-- transaction: off
-- Writes to rows that another transaction may be writing at the same moment. One statement must not lock a row and write it by its place: after a wait the
-- lock names the place of a version that the statement's own snapshot does not see, and the write finds nothing (decision 26). Each function below locks
-- in one statement and writes in a second one, which sees what it locked.
--
-- The lock finds a row by its key and in the order of the primary key, which leaves no other index, whatever the statistics say. The write finds it by its
-- place. So that neither is planned as a scan of a table which counted as empty when it was analyzed, the functions that call lock_... switch scans off.

-- Locks attempts that are still held, in the order given: by id, so that two groups cannot deadlock. n: which of those asked for.
-- p_wait = false: passes over rows that another transaction has locked.
CREATE OR REPLACE FUNCTION carillon.lock_attempts(p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean)
RETURNS TABLE (place tid, n bigint) LANGUAGE plpgsql SET jit = off AS $$
BEGIN
  IF p_wait THEN
    RETURN QUERY
    SELECT mine.place, e.n
      FROM unnest(p_projects, p_ids, p_attempts) WITH ORDINALITY AS e(project, id, attempt, n),
           LATERAL (SELECT r.ctid AS place FROM carillon.run r
                     WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND r.attempt = e.attempt AND r.owner = p_owner
                     ORDER BY r.id LIMIT 1 FOR UPDATE) mine;
  ELSE
    RETURN QUERY
    SELECT mine.place, e.n
      FROM unnest(p_projects, p_ids, p_attempts) WITH ORDINALITY AS e(project, id, attempt, n),
           LATERAL (SELECT r.ctid AS place FROM carillon.run r
                     WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND r.attempt = e.attempt AND r.owner = p_owner
                     ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED) mine;
  END IF;
END $$;

-- Removes attempts that ended their run.
CREATE OR REPLACE FUNCTION carillon.end_attempts(p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean)
RETURNS SETOF carillon.run LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[];
BEGIN
  SELECT array_agg(l.place) INTO v_places FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, p_wait) l;
  IF v_places IS NULL THEN RETURN; END IF;
  RETURN QUERY DELETE FROM carillon.run r WHERE r.ctid = ANY (v_places) RETURNING r.*;
END $$;

-- Removes runs that no node holds.
CREATE OR REPLACE FUNCTION carillon.end_waiting(p_projects text[], p_ids uuid[], p_wait boolean)
RETURNS SETOF carillon.run LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[];
BEGIN
  IF p_wait THEN
    SELECT array_agg(mine.place) INTO v_places
      FROM unnest(p_projects, p_ids) AS e(project, id),
           LATERAL (SELECT r.ctid AS place FROM carillon.run r
                     WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND (r.owner IS NULL OR r.parked = 'awaiting')
                     ORDER BY r.id LIMIT 1 FOR UPDATE) mine;
  ELSE
    SELECT array_agg(mine.place) INTO v_places
      FROM unnest(p_projects, p_ids) AS e(project, id),
           LATERAL (SELECT r.ctid AS place FROM carillon.run r
                     WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND (r.owner IS NULL OR r.parked = 'awaiting')
                     ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED) mine;
  END IF;
  IF v_places IS NULL THEN RETURN; END IF;
  RETURN QUERY DELETE FROM carillon.run r WHERE r.ctid = ANY (v_places) RETURNING r.*;
END $$;

-- Lets attempts go that will be repeated after a pause. The run proved harmless to its node, so it is no suspect any more. By a concurrency or rate key it
-- makes room meanwhile and gets in line for when its pause is over; a strict line waits for it.
CREATE OR REPLACE FUNCTION carillon.retry_attempts(p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean, p_failed boolean[], p_pauses float8[])
RETURNS SETOF carillon.run LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
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

-- Leaves attempts open for somebody outside, up to a time. The new owner is nobody's id: what the node says later is refused.
CREATE OR REPLACE FUNCTION carillon.open_attempts(p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean, p_at_most float8[])
RETURNS SETOF carillon.run LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
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

-- Lets attempts go that never started or had to stop. A run that was claimed once is no affair of the missed policy any more, hence start_by. A suspect that
-- did not get its chance stays one, and keeps its place under the limit of its lane. The claim of a run with a rate key may have been counted as its start:
-- such a run waits for its key again, or its next start would count as none.
CREATE OR REPLACE FUNCTION carillon.hand_back_attempts(p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean)
RETURNS SETOF uuid LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[];
BEGIN
  SELECT array_agg(l.place) INTO v_places FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, p_wait) l;
  IF v_places IS NULL THEN RETURN; END IF;
  RETURN QUERY
  UPDATE carillon.run r
     SET owner = NULL, leased_until = NULL, started_at = NULL, start_by = 'infinity',
         limited_by = CASE WHEN r.parked = 'suspect' THEN r.limited_by END,
         parked = CASE WHEN r.gate_key LIKE 'rate:%' AND r.parked IS DISTINCT FROM 'suspect' THEN 'gate' ELSE nullif(r.parked, 'running') END,
         seq = CASE WHEN r.gate_key LIKE 'rate:%' AND r.parked IS DISTINCT FROM 'suspect' THEN (extract(epoch FROM r.due_at) * 1000000)::bigint ELSE r.seq END,
         ready_at = CASE WHEN r.gate_key LIKE 'rate:%' AND r.parked IS DISTINCT FROM 'suspect' THEN 'infinity'
                         WHEN r.parked = 'running' THEN carillon.clock() ELSE r.ready_at END
   WHERE r.ctid = ANY (v_places)
  RETURNING r.id;
END $$;

-- Takes attempts that run long out of the claim's way; those that another transaction has locked are left for the next call.
CREATE OR REPLACE FUNCTION carillon.park_attempts(p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[])
RETURNS SETOF uuid LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[];
BEGIN
  SELECT array_agg(l.place) INTO v_places FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, false) l;
  IF v_places IS NULL THEN RETURN; END IF;
  RETURN QUERY
  UPDATE carillon.run r SET ready_at = 'infinity', parked = 'running', start_by = 'infinity'
   WHERE r.ctid = ANY (v_places)
  RETURNING r.id;
END $$;

-- Lets attempts go whose handler their node does not have, and parks those that no living node has a handler for. A tick that
-- never started stays under the missed policy, hence start_by stays. Returns the names of the others.
CREATE OR REPLACE FUNCTION carillon.pass_on_attempts(p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[])
RETURNS SETOF text LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[]; v_known text[];
BEGIN
  SELECT array_agg(l.place) INTO v_places FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, true) l;
  IF v_places IS NULL THEN RETURN; END IF;
  SELECT coalesce(array_agg(DISTINCT h.name), '{}') INTO v_known FROM carillon.node n, unnest(n.handlers) AS h(name) WHERE n.dead_at IS NULL;
  RETURN QUERY
  UPDATE carillon.run r
     SET owner = NULL, leased_until = NULL, started_at = NULL, limited_by = NULL,
         parked = CASE WHEN r.target_name = ANY (v_known) THEN NULL ELSE 'no-handler' END,
         ready_at = CASE WHEN r.target_name <> ALL (v_known) THEN 'infinity'
                         WHEN r.ready_at = 'infinity' THEN carillon.clock() ELSE r.ready_at END
   WHERE r.ctid = ANY (v_places)
  RETURNING CASE WHEN r.target_name = ANY (v_known) THEN r.target_name END;
END $$;

-- The oldest day whose history is kept. A partition that is being removed is not.
CREATE OR REPLACE FUNCTION carillon.oldest_history_day() RETURNS date LANGUAGE sql STABLE AS $$
  SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD')) FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = 'carillon.run_history'::regclass AND NOT i.inhdetachpending AND c.relname ~ '^run_history_[0-9]{8}$'
$$;

-- The day to which the history of a run and of its attempts belongs: for a tick the day of its instant, while that day is kept, so that the unique index of
-- instants holds; for all others the day of the ending. The oldest day that is kept may be removed at any moment and takes nothing new.
CREATE OR REPLACE FUNCTION carillon.history_day(p_origin text, p_day date) RETURNS date LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_origin <> 'tick' THEN (carillon.clock() AT TIME ZONE 'UTC')::date
              WHEN p_day >= (carillon.clock() AT TIME ZONE 'UTC')::date - 1 THEN p_day
              WHEN p_day > carillon.oldest_history_day() THEN p_day
              ELSE (carillon.clock() AT TIME ZONE 'UTC')::date END
$$;

-- A payload is kept where the handler asks for it, with the codec it was written by; codec is the result's. What a target says about its delivery is no
-- part of the log.
ALTER TABLE carillon.run_history ADD COLUMN IF NOT EXISTS payload_codec text COLLATE "C", ADD COLUMN IF NOT EXISTS delivery text;
ALTER TABLE carillon.attempt ADD COLUMN IF NOT EXISTS delivery text;
ALTER TABLE carillon.awaited ADD COLUMN IF NOT EXISTS keep_payload boolean NOT NULL DEFAULT false, ADD COLUMN IF NOT EXISTS delivery text;
