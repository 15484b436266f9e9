-- min_code: 1
-- Functions for runs that wait for other runs, and for workflows that wait for signals or runs.
--
-- No lock orders the end of a run and the start of a wait. Both commit first and look afterwards, with a new snapshot,
-- so at least one of them sees the other. Nodes look when a run ends and when a wait was stored; a scan of all waits,
-- in parts, finds what a crash between commit and look left. Planner settings are those of the functions that end
-- attempts.

-- Returns what became of an awaited run: 'pending' if it waits or is being executed, 'gone' if it does not exist or has
-- left the history, else its state. A dead run that was redriven is represented by the new run. A dead run is
-- redrivable while its payload is kept.
CREATE FUNCTION carillon.awaited_run(p_project text, p_id uuid)
RETURNS TABLE (current_id uuid, state text, redrivable boolean) LANGUAGE plpgsql STABLE COST 1 ROWS 1
SET jit = off AS $$
DECLARE v_next uuid;
BEGIN
  current_id := p_id;
  LOOP
    redrivable := false;
    PERFORM 1 FROM carillon.run r WHERE r.project = p_project AND r.id BETWEEN current_id AND current_id
      ORDER BY r.id LIMIT 1;
    IF FOUND THEN
      state := 'pending';
      EXIT;
    END IF;
    SELECT h.state INTO state FROM carillon.run_history h WHERE h.project = p_project AND h.id = current_id LIMIT 1;
    EXIT WHEN state NOT IN ('dead', 'quarantined');
    SELECT d.state, true INTO state, redrivable FROM carillon.dead_run d
     WHERE d.project = p_project AND d.id = current_id;
    EXIT WHEN FOUND;
    redrivable := false;
    SELECT r.id INTO v_next FROM carillon.run r
     WHERE r.project = p_project AND r.parent_id = current_id AND r.origin = 'redrive' LIMIT 1;
    IF NOT FOUND THEN
      SELECT h.id INTO v_next FROM carillon.run_history h
       WHERE h.project = p_project AND h.parent_id = current_id AND h.origin = 'redrive' LIMIT 1;
    END IF;
    IF v_next IS NULL THEN
      SELECT h.state INTO state FROM carillon.run_history h WHERE h.project = p_project AND h.id = current_id LIMIT 1;
      state := coalesce(state, 'gone');
      EXIT;
    END IF;
    current_id := v_next;
    v_next := NULL;
  END LOOP;
  RETURN NEXT;
END $$;

-- Resolves the waits of runs that are parked as 'run-wait', as far as their awaited runs have ended. A run without
-- open waits becomes ready or arrives at its gate. Returns one row for each such run ('ready'), for each run that
-- shall be cancelled because of an awaited run ('cancel'; the caller cancels it in the same transaction), and for each
-- run that another transaction has locked ('busy'; the caller tries again). The lock comes first and the awaited runs
-- are read by a later statement, so of two callers one releases or cancels the run, and it sees what the other has
-- resolved. This is final, except that a dead run can be redriven; so it does not matter which caller resolves a wait.
CREATE FUNCTION carillon.resolve_run_waits(p_projects text[], p_ids uuid[])
RETURNS TABLE (project text, id uuid, outcome text, queue text, gate_key text, awaited_id uuid, awaited_state text)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE v_key record; v_run record; v_wait record; v_pending boolean; v_failed uuid; v_failed_state text;
BEGIN
  FOR v_key IN SELECT DISTINCT e.project, e.id FROM unnest(p_projects, p_ids) AS e(project, id) LOOP
    SELECT r.ctid AS row_ctid, r.queue, r.gate_key INTO v_run FROM carillon.run r
     WHERE r.project = v_key.project AND r.id BETWEEN v_key.id AND v_key.id AND r.parked = 'run-wait'
     ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      PERFORM 1 FROM carillon.run r
        WHERE r.project = v_key.project AND r.id BETWEEN v_key.id AND v_key.id AND r.parked = 'run-wait'
        ORDER BY r.id LIMIT 1;
      IF FOUND THEN
        RETURN QUERY SELECT v_key.project, v_key.id, 'busy', NULL::text, NULL::text, NULL::uuid, NULL::text;
      ELSIF carillon.answer_arrived(v_key.project, v_key.id) THEN -- A workflow that awaits a run.
        RETURN QUERY SELECT w.project, w.id, w.outcome, w.queue, w.gate_key, NULL::uuid, NULL::text
                       FROM carillon.wake_workflows(ARRAY[v_key.project], ARRAY[v_key.id]) w;
      ELSE -- It was cancelled while it waited.
        DELETE FROM carillon.run_wait w WHERE w.project = v_key.project AND w.run_id = v_key.id
           AND (w.on_failure <> 'wake'
                OR NOT EXISTS (SELECT 1 FROM carillon.run r
                                WHERE r.project = v_key.project AND r.id BETWEEN v_key.id AND v_key.id));
      END IF;
      CONTINUE;
    END IF;
    -- Positions of a FIFO key have the order of the commits, see carillon.gate_position_seq.
    IF v_run.gate_key LIKE 'fifo:%' AND NOT pg_try_advisory_xact_lock(
         hashtextextended('carillon.fifo ' || v_key.project || ' ' || v_run.gate_key, 0)) THEN
      RETURN QUERY SELECT v_key.project, v_key.id, 'busy', NULL::text, NULL::text, NULL::uuid, NULL::text;
      CONTINUE;
    END IF;
    v_pending := false;
    v_failed := NULL;
    FOR v_wait IN
      SELECT w.awaited_id, w.on_failure, a.current_id, a.state, a.redrivable
        FROM carillon.run_wait w, LATERAL carillon.awaited_run(w.project, w.awaited_id) a
       WHERE w.project = v_key.project AND w.run_id = v_key.id
    LOOP
      IF v_wait.state = 'pending' OR (v_wait.redrivable AND v_wait.on_failure = 'wait') THEN
        v_pending := true;
        IF v_wait.current_id <> v_wait.awaited_id THEN
          INSERT INTO carillon.run_wait (project, run_id, awaited_id, on_failure)
          VALUES (v_key.project, v_key.id, v_wait.current_id, v_wait.on_failure) ON CONFLICT DO NOTHING;
        END IF;
      ELSIF v_wait.state <> 'succeeded' AND v_wait.on_failure <> 'run-anyway' THEN
        v_failed := v_wait.current_id;
        v_failed_state := v_wait.state;
        EXIT;
      END IF;
      IF v_wait.state <> 'pending' AND NOT (v_wait.redrivable AND v_wait.on_failure = 'wait')
         OR v_wait.current_id <> v_wait.awaited_id THEN
        DELETE FROM carillon.run_wait w
         WHERE w.project = v_key.project AND w.run_id = v_key.id AND w.awaited_id = v_wait.awaited_id;
      END IF;
    END LOOP;
    IF v_failed IS NOT NULL THEN
      DELETE FROM carillon.run_wait w WHERE w.project = v_key.project AND w.run_id = v_key.id;
      RETURN QUERY SELECT v_key.project, v_key.id, 'cancel', v_run.queue, v_run.gate_key, v_failed, v_failed_state;
    ELSIF NOT v_pending THEN
      UPDATE carillon.run r
         SET due_at = carillon.clock(), day = (carillon.clock() AT TIME ZONE 'UTC')::date,
             parked = CASE WHEN r.gate_key IS NOT NULL THEN 'gate' END,
             ready_at = CASE WHEN r.gate_key IS NOT NULL THEN 'infinity' ELSE carillon.clock() END,
             gate_position = CASE WHEN r.gate_key LIKE 'fifo:%' THEN nextval('carillon.gate_position_seq')
                                  WHEN r.gate_key IS NOT NULL
                                  THEN (extract(epoch FROM carillon.clock()) * 1000000)::bigint END
       WHERE r.ctid = v_run.row_ctid;
      RETURN QUERY SELECT v_key.project, v_key.id, 'ready', v_run.queue, v_run.gate_key, NULL::uuid, NULL::text;
    END IF;
  END LOOP;
END $$;

-- Reads the next p_limit waits after the given one. Returns those that can be resolved, because the awaited run or the
-- waiting one has ended, and the wait after which the next part begins; without such a row, this was the last part.
CREATE FUNCTION carillon.scan_run_waits(p_project text, p_run_id uuid, p_awaited_id uuid, p_limit int)
RETURNS TABLE (project text, run_id uuid, awaited_id uuid, resolvable boolean, last boolean) LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT found.project, found.run_id, found.awaited_id, found.resolvable, found.number = p_limit
    FROM (SELECT part.*, row_number() OVER () AS number,
                 awaited.id IS NULL
                 OR CASE WHEN part.on_failure = 'wake' THEN waiting.id IS NULL
                         ELSE coalesce(waiting.parked, '') <> 'run-wait' END AS resolvable
            FROM (SELECT w.project, w.run_id, w.awaited_id, w.on_failure FROM carillon.run_wait w
                   WHERE (w.project, w.run_id, w.awaited_id) > (p_project, p_run_id, p_awaited_id)
                   ORDER BY w.project, w.run_id, w.awaited_id LIMIT p_limit) part
            LEFT JOIN LATERAL (SELECT r.id FROM carillon.run r
                                WHERE r.project = part.project AND r.id BETWEEN part.awaited_id AND part.awaited_id
                                ORDER BY r.id LIMIT 1) awaited ON true
            LEFT JOIN LATERAL (SELECT r.id, r.parked FROM carillon.run r
                                WHERE r.project = part.project AND r.id BETWEEN part.run_id AND part.run_id
                                ORDER BY r.id LIMIT 1) waiting ON true) found
   WHERE found.resolvable OR found.number = p_limit;
END $$;

-- Returns whether a workflow waits for a signal that was sent, or for a run that has ended: its last record is an await
-- without an answer.
CREATE FUNCTION carillon.answer_arrived(p_project text, p_id uuid) RETURNS boolean LANGUAGE plpgsql STABLE COST 1
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE v_last record;
BEGIN
  SELECT s.kind, s.path INTO v_last FROM carillon.workflow_step s
   WHERE s.project = p_project AND s.run_id = p_id ORDER BY s.position DESC LIMIT 1;
  IF v_last.kind = 'await-run' THEN
    PERFORM 1 FROM carillon.run_wait w, LATERAL carillon.awaited_run(w.project, w.awaited_id) a
      WHERE w.project = p_project AND w.run_id = p_id AND w.on_failure = 'wake' AND a.state <> 'pending' LIMIT 1;
    RETURN FOUND;
  END IF;
  IF v_last.kind IS DISTINCT FROM 'await' THEN RETURN false; END IF;
  PERFORM 1 FROM carillon.workflow_signal g
    WHERE g.project = p_project AND g.run_id = p_id AND g.name = split_part(v_last.path, '#', 1)
      AND g.consumed_by IS NULL LIMIT 1;
  RETURN FOUND;
END $$;

-- Makes workflows ready whose answer has arrived. Returns one row for each of them ('ready'), and for each one that
-- another transaction has locked ('busy'; the caller tries again). A run that a node holds is left alone: its node
-- calls this function after it has parked the run. The lock comes first, then the records and answers are read by a
-- later statement. The check before the lock keeps workflows that do not wait for their signals from being written.
CREATE FUNCTION carillon.wake_workflows(p_projects text[], p_ids uuid[])
RETURNS TABLE (project text, id uuid, outcome text, queue text, gate_key text) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE v_key record; v_run record;
BEGIN
  FOR v_key IN SELECT DISTINCT e.project, e.id FROM unnest(p_projects, p_ids) AS e(project, id) ORDER BY 1, 2 LOOP
    CONTINUE WHEN NOT carillon.answer_arrived(v_key.project, v_key.id);
    SELECT r.ctid AS row_ctid, r.queue, r.gate_key, r.parked INTO v_run FROM carillon.run r
     WHERE r.project = v_key.project AND r.id BETWEEN v_key.id AND v_key.id AND r.owner IS NULL
       AND (r.parked IS NULL AND r.ready_at > carillon.clock()
         OR r.parked = 'gate' AND r.gate_arrival_at > carillon.clock())
     ORDER BY r.id LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      PERFORM 1 FROM carillon.run r
        WHERE r.project = v_key.project AND r.id BETWEEN v_key.id AND v_key.id AND r.owner IS NULL
          AND (r.parked IS NULL AND r.ready_at > carillon.clock()
               OR r.parked = 'gate' AND r.gate_arrival_at > carillon.clock())
        ORDER BY r.id LIMIT 1;
      IF FOUND THEN RETURN QUERY SELECT v_key.project, v_key.id, 'busy', NULL::text, NULL::text; END IF;
      CONTINUE;
    END IF;
    CONTINUE WHEN NOT carillon.answer_arrived(v_key.project, v_key.id);
    UPDATE carillon.run r
       SET ready_at = CASE WHEN r.parked IS NULL THEN carillon.clock() ELSE r.ready_at END,
           gate_arrival_at = CASE WHEN r.parked = 'gate' THEN carillon.clock() END,
           gate_position = CASE WHEN r.parked = 'gate' THEN (extract(epoch FROM carillon.clock()) * 1000000)::bigint
                                ELSE r.gate_position END
     WHERE r.ctid = v_run.row_ctid;
    RETURN QUERY SELECT v_key.project, v_key.id, 'ready', v_run.queue,
                        CASE WHEN v_run.parked = 'gate' THEN v_run.gate_key END;
  END LOOP;
END $$;
