-- min_code: 1
-- Functions for heartbeats, rescue, history and the size of the table carillon.run. Planner settings are those of the
-- functions that end attempts.

-- Makes the table carillon.run at least 300 pages large, and returns whether it had to. A queue is empty most of the
-- time. A statement that is planned for a table without pages uses sequential scans, and this plan stays in use while
-- a million rows arrive, until the next ANALYZE: reading the first runs took 300 ms instead of 1 ms, and groups of
-- endings exceeded their time limit. So the table keeps 300 pages of free space; vacuum_truncate is off. A restore or
-- a rewrite of the table removes them, so nodes call this function when they start and at intervals.
CREATE FUNCTION carillon.reserve_pages() RETURNS boolean LANGUAGE plpgsql SET jit = off AS $$
BEGIN
  IF pg_relation_size('carillon.run') >= 300 * current_setting('block_size')::int THEN RETURN false; END IF;
  INSERT INTO carillon.run
         (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name, codec, payload)
  SELECT '', md5(page::text)::uuid, '', 0, 'infinity', 'infinity', 'infinity', '', '', '', '',
         (SELECT string_agg(decode(md5(page || '.' || part), 'hex'), '') FROM generate_series(1, 115) part)
    FROM generate_series(1, 600) page
      ON CONFLICT DO NOTHING;
  DELETE FROM carillon.run WHERE project = '';
  RETURN true;
END $$;
SELECT carillon.reserve_pages();

-- Returns the oldest day whose history is kept. A partition that is being detached does not count.
CREATE FUNCTION carillon.oldest_history_day() RETURNS date LANGUAGE sql STABLE AS $$
  SELECT min(to_date(right(c.relname, 8), 'YYYYMMDD'))
    FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = 'carillon.run_history'::regclass AND NOT i.inhdetachpending
     AND c.relname ~ '^run_history_[0-9]{8}$'
$$;

-- Returns the day under which the history of a run and of its attempts is stored. For a tick it is the day of its
-- instant while that day is kept, so that the unique index on instants applies. For other runs it is the current day.
-- The oldest day gets no new rows, because its partition can be removed at any time.
CREATE FUNCTION carillon.history_day(p_origin text, p_day date) RETURNS date LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_origin <> 'tick' THEN (carillon.clock() AT TIME ZONE 'UTC')::date
              WHEN p_day >= (carillon.clock() AT TIME ZONE 'UTC')::date - 1 THEN p_day
              WHEN p_day > carillon.oldest_history_day() THEN p_day
              ELSE (carillon.clock() AT TIME ZONE 'UTC')::date END
$$;

-- Returns the requests to cancel runs that a node holds. It goes from the claim records of the node to the requests by
-- their primary key, so that requests of one project do not delay those of another. The plan must not depend on
-- statistics: cancel_request is rarely analyzed, run may have been analyzed while it was empty or full, and the
-- estimated cost of the join would make PostgreSQL compile the statement at each heartbeat.
CREATE FUNCTION carillon.cancel_requests_of_node(p_node uuid)
RETURNS TABLE (project text, run_id uuid, reason text) LANGUAGE plpgsql COST 1 ROWS 1
SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM carillon.cancel_request) THEN RETURN; END IF;
  RETURN QUERY
  SELECT DISTINCT c.project, c.run_id, c.reason
    FROM carillon.claim_record n, unnest(n.run_ids) WITH ORDINALITY AS recorded(id, number),
         LATERAL (SELECT q.project, q.run_id, q.reason FROM carillon.cancel_request q
                   WHERE q.project = coalesce(n.projects[recorded.number::int], n.projects[1])
                     AND q.run_id BETWEEN recorded.id AND recorded.id
                   ORDER BY q.run_id LIMIT 1) c,
         LATERAL (SELECT 1 FROM carillon.run r
                   WHERE r.project = c.project AND r.id BETWEEN c.run_id AND c.run_id AND r.owner = p_node
                   ORDER BY r.id LIMIT 1) held
   WHERE n.node = p_node;
END $$;

-- Returns whether a rescue has to handle requests to cancel. That is so if a run with a request is not held by a
-- node, because the node that released it was interrupted before it ended the run; or if there are more than 500
-- requests, and the runs of some of them have ended. Each heartbeat calls this function; usually there is no request
-- at all. If there are more than 500 requests, it reads those on eight consecutive pages that it selects at random,
-- so that its cost does not grow with their number.
CREATE FUNCTION carillon.has_due_cancel_requests() RETURNS boolean LANGUAGE plpgsql COST 1
SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE v_projects text[]; v_ids uuid[]; v_many boolean; v_first bigint; v_low tid; v_high tid;
BEGIN
  SELECT array_agg(c.project), array_agg(c.run_id) INTO v_projects, v_ids
    FROM (SELECT q.project, q.run_id FROM carillon.cancel_request q ORDER BY q.project, q.run_id LIMIT 501) c;
  IF v_ids IS NULL THEN RETURN false; END IF;
  v_many := cardinality(v_ids) > 500;
  IF v_many THEN
    v_first := floor(random() * greatest(1, pg_relation_size('carillon.cancel_request')
                                            / current_setting('block_size')::int - 7));
    v_low := format('(%s,0)', v_first);
    v_high := format('(%s,0)', v_first + 8);
    SELECT array_agg(c.project), array_agg(c.run_id) INTO v_projects, v_ids
      FROM carillon.cancel_request c WHERE c.ctid >= v_low AND c.ctid < v_high;
  END IF;
  RETURN EXISTS (SELECT 1 FROM unnest(v_projects, v_ids) AS c(project, run_id)
                         LEFT JOIN LATERAL (SELECT (r.owner IS NULL OR coalesce(r.parked = 'awaiting', false))
                                                   AND carillon.undo_state(r.project, r.id) <> 'compensating' AS waits
                                              FROM carillon.run r
                                             WHERE r.project = c.project AND r.id BETWEEN c.run_id AND c.run_id
                                             ORDER BY r.id LIMIT 1) found ON true
                  WHERE coalesce(found.waits, v_many));
END $$;

-- Returns whether there are isolated runs whose handler no live node has. Each heartbeat calls this function; usually
-- there is no isolated run at all.
CREATE FUNCTION carillon.has_isolated_runs_without_handler() RETURNS boolean LANGUAGE plpgsql STABLE COST 1
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_name text;
BEGIN
  SELECT r.target_name INTO v_name FROM carillon.run r
   WHERE r.parked = 'isolated' AND r.owner IS NULL ORDER BY r.target_name LIMIT 1;
  WHILE v_name IS NOT NULL LOOP
    IF NOT EXISTS (SELECT 1 FROM carillon.node n WHERE n.dead_at IS NULL AND v_name = ANY (n.handlers)) THEN
      RETURN true;
    END IF;
    SELECT r.target_name INTO v_name FROM carillon.run r
     WHERE r.parked = 'isolated' AND r.target_name > v_name AND r.owner IS NULL ORDER BY r.target_name LIMIT 1;
  END LOOP;
  RETURN false;
END $$;

-- Parks isolated runs whose handler no live node has as 'no-handler', at most 5,000 of each handler, and returns how
-- many. They no longer count towards a limit. It jumps from handler to handler over the index on parked runs. It skips
-- runs that another transaction has locked; the next rescue finds them. If a node with the handler started meanwhile,
-- the next heartbeat finds the run.
CREATE FUNCTION carillon.park_isolated_runs_without_handler() RETURNS int LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_name text; v_ctids tid[]; v_parked int := 0;
BEGIN
  SELECT r.target_name INTO v_name FROM carillon.run r WHERE r.parked = 'isolated' ORDER BY r.target_name LIMIT 1;
  WHILE v_name IS NOT NULL LOOP
    IF NOT EXISTS (SELECT 1 FROM carillon.node n WHERE n.dead_at IS NULL AND v_name = ANY (n.handlers)) THEN
      v_ctids := array(SELECT r.ctid FROM carillon.run r
                         WHERE r.parked = 'isolated' AND r.target_name = v_name AND r.owner IS NULL
                         ORDER BY r.due_at LIMIT 5000 FOR UPDATE SKIP LOCKED);
      UPDATE carillon.run r SET parked = 'no-handler', was_isolated = true, limited_by = NULL,
             gate_position = carillon.gate_position_without_handler(r.gate_key, r.gate_position)
       WHERE r.ctid = ANY (v_ctids);
      v_parked := v_parked + cardinality(v_ctids);
    END IF;
    SELECT r.target_name INTO v_name FROM carillon.run r
     WHERE r.parked = 'isolated' AND r.target_name > v_name ORDER BY r.target_name LIMIT 1;
  END LOOP;
  RETURN v_parked;
END $$;
