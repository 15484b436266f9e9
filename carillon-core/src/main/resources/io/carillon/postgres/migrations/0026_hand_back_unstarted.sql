-- min_code: 26
-- Lets attempts go that never started or had to stop. After a handler was called, the missed policy no longer applies to its run, hence start_by = infinity; a
-- tick that was only claimed keeps its start_by. The rest is as in the function without p_started, which it replaces: a suspect that was not tried stays one,
-- and keeps its place under the limit of its lane. The claim of a run with a rate key may have been counted as its start: such a run waits for its key again, or its next start would count as none.
CREATE FUNCTION carillon.hand_back_attempts(p_owner uuid, p_projects text[], p_ids uuid[], p_attempts int[], p_wait boolean, p_started boolean[])
RETURNS SETOF uuid LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[]; v_started boolean[];
BEGIN
  SELECT array_agg(l.place), array_agg(p_started[l.n]) INTO v_places, v_started
    FROM carillon.lock_attempts(p_owner, p_projects, p_ids, p_attempts, p_wait) l;
  IF v_places IS NULL THEN RETURN; END IF;
  RETURN QUERY
  UPDATE carillon.run r
     SET owner = NULL, leased_until = NULL, started_at = NULL, start_by = CASE WHEN h.started THEN 'infinity' ELSE r.start_by END,
         limited_by = CASE WHEN r.parked = 'suspect' THEN r.limited_by END,
         parked = CASE WHEN r.gate_key LIKE 'rate:%' AND r.parked IS DISTINCT FROM 'suspect' THEN 'gate' ELSE nullif(r.parked, 'running') END,
         seq = CASE WHEN r.gate_key LIKE 'rate:%' AND r.parked IS DISTINCT FROM 'suspect' THEN (extract(epoch FROM r.due_at) * 1000000)::bigint ELSE r.seq END,
         ready_at = CASE WHEN r.gate_key LIKE 'rate:%' AND r.parked IS DISTINCT FROM 'suspect' THEN 'infinity'
                         WHEN r.parked = 'running' THEN carillon.clock() ELSE r.ready_at END
    FROM unnest(v_places, v_started) AS h(place, started)
   WHERE r.ctid = h.place
  RETURNING r.id;
END $$;

DROP FUNCTION carillon.hand_back_attempts(uuid, text[], uuid[], int[], boolean);
