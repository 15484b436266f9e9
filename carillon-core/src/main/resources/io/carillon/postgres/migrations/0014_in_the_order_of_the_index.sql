-- min_code: 1
-- The first of a lane, and the first of all lanes: both stand in the order of an index, and nobody may read more of it than he asked for. A table that
-- was full, was emptied and then analyzed counts as empty, however many rows came since; for the one row it expects the planner gathers and sorts all
-- there are (a claim of 50 from 300,000 took 158 ms instead of 0.3). These functions leave it no such choice. They must be functions: nothing may
-- stay set on a session that belongs to somebody's pool, and a claim is one statement.

-- Locks the first of a lane, and says where they are.
CREATE FUNCTION carillon.pick(lane text, tenant text, rank smallint, low timestamptz, most int, strangers text[]) RETURNS SETOF tid LANGUAGE plpgsql COST 1 ROWS 1
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN QUERY
  SELECT r.ctid FROM carillon.run r
   WHERE r.queue = lane AND r.project = tenant AND r.class = rank AND r.ready_at BETWEEN low AND carillon.clock()
     AND r.start_by > carillon.clock() AND r.owner IS NULL AND r.target_name <> ALL (strangers)
   ORDER BY r.ready_at LIMIT most
   FOR UPDATE SKIP LOCKED;
END $$;

-- The first that are due, from here on, and the first that are not.
CREATE FUNCTION carillon.head(low timestamptz, most_due int, most_soon int)
RETURNS TABLE (due boolean, queue text, project text, class smallint, ready_at timestamptz) LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN QUERY
  SELECT true, r.queue, r.project, r.class, r.ready_at FROM carillon.run r
   WHERE r.ready_at >= low AND r.ready_at <= carillon.clock() AND r.ready_at < 'infinity' AND r.owner IS NULL AND r.start_by > carillon.clock()
   ORDER BY r.ready_at LIMIT most_due;
  RETURN QUERY
  SELECT false, r.queue, r.project, r.class, r.ready_at FROM carillon.run r
   WHERE r.ready_at > carillon.clock() AND r.ready_at < 'infinity' AND r.owner IS NULL
   ORDER BY r.ready_at LIMIT most_soon;
END $$;

-- From lane to lane: about 12 µs each, however many runs they hold. It says where the first run of each stands, so that nobody wades twice through what
-- has ended before it.
CREATE FUNCTION carillon.lanes()
RETURNS TABLE (queue text, project text, class smallint, low timestamptz) LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_sort = off AS $$
BEGIN
  RETURN QUERY
  WITH RECURSIVE lane AS (
    (SELECT r.queue, r.project, r.class, r.ready_at FROM carillon.run r ORDER BY r.queue, r.project, r.class, r.ready_at LIMIT 1)
    UNION ALL
    SELECT next.* FROM lane, LATERAL (SELECT r.queue, r.project, r.class, r.ready_at FROM carillon.run r
                                       WHERE (r.queue, r.project, r.class) > (lane.queue, lane.project, lane.class)
                                       ORDER BY r.queue, r.project, r.class, r.ready_at LIMIT 1) next)
  SELECT * FROM lane;
END $$;

-- The first of each lane that can be claimed now or later.
CREATE FUNCTION carillon.scan()
RETURNS TABLE (queue text, project text, class smallint, ready_at timestamptz) LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN QUERY
  SELECT lane.queue, lane.project, lane.class, first.ready_at
    FROM carillon.lanes() lane,
         LATERAL (SELECT r.ready_at FROM carillon.run r
                   WHERE r.queue = lane.queue AND r.project = lane.project AND r.class = lane.class
                     AND r.ready_at >= lane.low AND r.ready_at < 'infinity' AND r.owner IS NULL AND r.start_by > carillon.clock()
                   ORDER BY r.ready_at LIMIT 1) first
   WHERE NOT EXISTS (SELECT 1 FROM carillon.lane p WHERE p.queue = lane.queue AND p.project = lane.project AND p.paused_at IS NOT NULL);
END $$;

-- What is somebody's is parked, or lies at the head of its lane: a claim takes from there, and what others held before it is soon gone. By lane, because
-- the backlog of one must not hide the head of another.
CREATE FUNCTION carillon.held_by(node uuid)
RETURNS TABLE (project text, id uuid, attempt int) LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN QUERY
  SELECT first.project, first.id, first.attempt
    FROM carillon.lanes() lane,
         LATERAL (SELECT r.project, r.id, r.attempt, r.owner FROM carillon.run r
                   WHERE r.queue = lane.queue AND r.project = lane.project AND r.class = lane.class AND r.ready_at BETWEEN lane.low AND carillon.clock()
                   ORDER BY r.ready_at LIMIT 2000) first
   WHERE first.owner = node
  UNION ALL
  SELECT r.project, r.id, r.attempt FROM carillon.run r WHERE r.parked IN ('running', 'suspect') AND r.owner = node;
END $$;
