-- min_code: 1
-- transaction: off
-- A lane may hold runs of handlers that a node does not have, on purpose: several handlers share a queue and the nodes share the handlers. The claim went
-- through all runs of the others to reach its own (beside 200,000 of them 83 ms instead of 3). With the handler in the index before the time it goes to
-- its own at once, however many others there are.
DROP INDEX CONCURRENTLY IF EXISTS carillon.run_lane_handler;
CREATE INDEX CONCURRENTLY run_lane_handler ON carillon.run (queue, project, class, target_name, ready_at);

-- The first 50 handlers that have runs in a priority of a lane, from one to the next over the index. Who asks knows none of them yet; a lane with 100,000 names
-- does not hold up the claims of others, and a look finds what is behind the first.
CREATE OR REPLACE FUNCTION carillon.handlers_of(p_queue text, p_project text, p_priority smallint) RETURNS SETOF text LANGUAGE plpgsql COST 1 ROWS 1
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE last text;
BEGIN
  SELECT r.target_name INTO last FROM carillon.run r
   WHERE r.queue = p_queue AND r.project = p_project AND r.class = p_priority ORDER BY r.target_name LIMIT 1;
  FOR i IN 1 .. 50 LOOP
    EXIT WHEN last IS NULL;
    RETURN NEXT last;
    SELECT r.target_name INTO last FROM carillon.run r
     WHERE r.queue = p_queue AND r.project = p_project AND r.class = p_priority AND r.target_name > last ORDER BY r.target_name LIMIT 1;
  END LOOP;
END $$;

-- Locks the first of a lane, and says where they are: of the given handlers, or, where none are given, of all but the strangers. Several handlers share
-- what is asked for in equal parts; what one does not have goes to the others.
CREATE OR REPLACE FUNCTION carillon.pick(p_queue text, p_project text, p_priority smallint, p_low timestamptz, p_most int, p_handlers text[], p_strangers text[])
RETURNS SETOF tid LANGUAGE plpgsql COST 1 ROWS 1
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  names text[] := p_handlers;
  taken int[] := '{}';
  parts int[] := '{}';
  rest int := p_most;
  got int;
  share int;
BEGIN
  IF cardinality(names) = 0 THEN
    names := array(SELECT name FROM carillon.handlers_of(p_queue, p_project, p_priority) AS name WHERE name <> ALL (p_strangers));
  END IF;
  FOR i IN 1 .. cardinality(names) LOOP
    share := ceil(rest::float8 / (cardinality(names) - i + 1));
    RETURN QUERY
    SELECT r.ctid FROM carillon.run r
     WHERE r.queue = p_queue AND r.project = p_project AND r.class = p_priority AND r.target_name = names[i]
       AND r.ready_at BETWEEN p_low AND carillon.clock() AND r.start_by > carillon.clock() AND r.owner IS NULL
     ORDER BY r.ready_at LIMIT share
     FOR UPDATE SKIP LOCKED;
    GET DIAGNOSTICS got = ROW_COUNT;
    taken[i] := got;
    parts[i] := share;
    rest := rest - got;
    EXIT WHEN rest = 0;
  END LOOP;
  -- What handlers further on left over. Rows that this statement has locked are not skipped, hence the offset.
  FOR i IN 1 .. cardinality(taken) - 1 LOOP
    EXIT WHEN rest = 0;
    CONTINUE WHEN taken[i] < parts[i];
    RETURN QUERY
    SELECT r.ctid FROM carillon.run r
     WHERE r.queue = p_queue AND r.project = p_project AND r.class = p_priority AND r.target_name = names[i]
       AND r.ready_at BETWEEN p_low AND carillon.clock() AND r.start_by > carillon.clock() AND r.owner IS NULL
     ORDER BY r.ready_at LIMIT rest OFFSET taken[i]
     FOR UPDATE SKIP LOCKED;
    GET DIAGNOSTICS got = ROW_COUNT;
    rest := rest - got;
  END LOOP;
END $$;

-- For nodes of the version before.
CREATE OR REPLACE FUNCTION carillon.pick(lane text, tenant text, rank smallint, low timestamptz, most int, strangers text[])
RETURNS SETOF tid LANGUAGE sql COST 1 ROWS 1 AS $$
  SELECT carillon.pick(lane, tenant, rank, low, most, '{}'::text[], strangers)
$$;

-- The handlers that have runs in each priority of each lane, from one to the next: about 12 µs each, however many runs they hold. It says where the first run
-- of each stands, so that no reader goes twice through what has ended before it.
CREATE OR REPLACE FUNCTION carillon.lane_handlers()
RETURNS TABLE (queue text, project text, class smallint, target_name text, low timestamptz) LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $$
BEGIN
  RETURN QUERY
  WITH RECURSIVE found AS (
    (SELECT r.queue, r.project, r.class, r.target_name, r.ready_at FROM carillon.run r
      ORDER BY r.queue, r.project, r.class, r.target_name, r.ready_at LIMIT 1)
    UNION ALL
    SELECT next.* FROM found, LATERAL (SELECT r.queue, r.project, r.class, r.target_name, r.ready_at FROM carillon.run r
                                         WHERE (r.queue, r.project, r.class, r.target_name) > (found.queue, found.project, found.class, found.target_name)
                                         ORDER BY r.queue, r.project, r.class, r.target_name, r.ready_at LIMIT 1) next)
  SELECT * FROM found;
END $$;

CREATE OR REPLACE FUNCTION carillon.lanes()
RETURNS TABLE (queue text, project text, class smallint, low timestamptz) LANGUAGE sql STABLE AS $$
  SELECT queue, project, class, min(low) FROM carillon.lane_handlers() GROUP BY queue, project, class
$$;

-- The first run of each of them that can be claimed now or later, for so many behind the given one: where there are 200,000, a claim does not wait for all.
-- Those without such a run are told without a time.
CREATE OR REPLACE FUNCTION carillon.scan_lanes(p_queue text, p_project text, p_priority smallint, p_handler text, p_most int)
RETURNS TABLE (queue text, project text, class smallint, target_name text, ready_at timestamptz) LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY
  WITH RECURSIVE found AS (
    (SELECT r.queue, r.project, r.class, r.target_name, r.ready_at FROM carillon.run r
      WHERE (r.queue, r.project, r.class, r.target_name) > (p_queue, p_project, p_priority, p_handler)
      ORDER BY r.queue, r.project, r.class, r.target_name, r.ready_at LIMIT 1)
    UNION ALL
    SELECT next.* FROM found, LATERAL (SELECT r.queue, r.project, r.class, r.target_name, r.ready_at FROM carillon.run r
                                         WHERE (r.queue, r.project, r.class, r.target_name) > (found.queue, found.project, found.class, found.target_name)
                                         ORDER BY r.queue, r.project, r.class, r.target_name, r.ready_at LIMIT 1) next)
  SELECT s.queue, s.project, s.class, s.target_name,
         CASE WHEN NOT EXISTS (SELECT 1 FROM carillon.lane p WHERE p.queue = s.queue AND p.project = s.project AND p.paused_at IS NOT NULL)
              THEN first.ready_at END
    FROM (SELECT * FROM found LIMIT p_most) s
    LEFT JOIN LATERAL (SELECT r.ready_at FROM carillon.run r
                        WHERE r.queue = s.queue AND r.project = s.project AND r.class = s.class AND r.target_name = s.target_name
                          AND r.ready_at >= s.ready_at AND r.ready_at < 'infinity' AND r.owner IS NULL AND r.start_by > carillon.clock()
                        ORDER BY r.ready_at LIMIT 1) first ON true;
END $$;

CREATE OR REPLACE FUNCTION carillon.scan()
RETURNS TABLE (queue text, project text, class smallint, ready_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT queue, project, class, min(ready_at) FROM carillon.scan_lanes('', '', (-1)::smallint, '', 2147483647)
   WHERE ready_at IS NOT NULL GROUP BY queue, project, class
$$;

-- The first that are due, from here on, and the first that are not; with their handlers.
CREATE OR REPLACE FUNCTION carillon.heads(p_low timestamptz, p_due int, p_soon int)
RETURNS TABLE (due boolean, queue text, project text, class smallint, target_name text, ready_at timestamptz) LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY
  SELECT true, r.queue, r.project, r.class, r.target_name, r.ready_at FROM carillon.run r
   WHERE r.ready_at >= p_low AND r.ready_at <= carillon.clock() AND r.ready_at < 'infinity' AND r.owner IS NULL AND r.start_by > carillon.clock()
   ORDER BY r.ready_at LIMIT p_due;
  RETURN QUERY
  SELECT false, r.queue, r.project, r.class, r.target_name, r.ready_at FROM carillon.run r
   WHERE r.ready_at > carillon.clock() AND r.ready_at < 'infinity' AND r.owner IS NULL
   ORDER BY r.ready_at LIMIT p_soon;
END $$;

-- What a node holds is parked, or lies at the head of its handler's runs.
CREATE OR REPLACE FUNCTION carillon.held_by(node uuid)
RETURNS TABLE (project text, id uuid, attempt int) LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
BEGIN
  RETURN QUERY
  SELECT first.project, first.id, first.attempt
    FROM carillon.lane_handlers() found,
         LATERAL (SELECT r.project, r.id, r.attempt, r.owner FROM carillon.run r
                   WHERE r.queue = found.queue AND r.project = found.project AND r.class = found.class AND r.target_name = found.target_name
                     AND r.ready_at BETWEEN found.low AND carillon.clock()
                   ORDER BY r.ready_at LIMIT 2000) first
   WHERE first.owner = node
  UNION ALL
  SELECT r.project, r.id, r.attempt FROM carillon.run r WHERE r.parked IN ('running', 'suspect') AND r.owner = node;
END $$;

DROP INDEX CONCURRENTLY IF EXISTS carillon.run_lane;

-- While a limit is new, claims that began before it was visible may commit: limited claims count in what they took, until none of them can be left.
ALTER TABLE carillon.lane ADD COLUMN IF NOT EXISTS count_until timestamptz; -- infinity: no claim has seen the limit yet; null: all is counted

-- Where the runs of a lane lie that somebody holds, and those that wait to be tried again, and that do not count yet: by the notes of the nodes and by
-- leases, with p_all also by what is parked, not by a scan of what waits. It sees more than who asks may see, and tells places only. Only while a node of a
-- version without notes lives the lane is read.
CREATE OR REPLACE FUNCTION carillon.held_in(p_queue text, p_project text, p_all boolean) RETURNS SETOF tid LANGUAGE plpgsql COST 1000
SECURITY DEFINER SET search_path = pg_catalog SET enable_seqscan = off SET jit = off AS $$
BEGIN
  IF p_all THEN
    RETURN QUERY
    SELECT r.ctid FROM carillon.run r
     WHERE r.parked IN ('running', 'suspect', 'awaiting') AND r.queue = p_queue AND r.project = p_project AND r.limited_by IS NULL
       AND (r.owner IS NOT NULL OR r.parked = 'suspect');
    RETURN QUERY
    SELECT r.ctid FROM carillon.run r
     WHERE r.leased_until IS NOT NULL AND r.queue = p_queue AND r.project = p_project AND r.limited_by IS NULL AND r.owner IS NOT NULL;
  ELSE
    -- What has just been claimed. A longer lease is found at the end.
    RETURN QUERY
    SELECT r.ctid FROM carillon.run r
     WHERE r.leased_until BETWEEN carillon.clock() AND carillon.clock() + interval '1 h' AND r.queue = p_queue AND r.project = p_project
       AND r.limited_by IS NULL AND r.owner IS NOT NULL;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM carillon.node WHERE dead_at IS NULL AND NOT notes) THEN
    RETURN QUERY
    SELECT mine.place
      FROM carillon.claim_note n, unnest(n.ids) WITH ORDINALITY AS one(id, number),
           LATERAL (SELECT r.ctid AS place FROM carillon.run r
                     WHERE r.project = coalesce(n.projects[one.number::int], n.projects[1]) AND r.id BETWEEN one.id AND one.id
                       AND r.project = p_project AND r.queue = p_queue AND r.owner IS NOT NULL AND r.limited_by IS NULL
                     ORDER BY r.id LIMIT 1) mine
     WHERE p_project = ANY (n.projects);
  ELSE
    RETURN QUERY
    SELECT r.ctid FROM carillon.run r
     WHERE r.queue = p_queue AND r.project = p_project AND r.ready_at < 'infinity' AND r.owner IS NOT NULL AND r.limited_by IS NULL;
  END IF;
END $$;

-- Lets them count, and says how many it could not: it waits for no lock, and what moved meanwhile is not where it was. A place is a hint, so what lies
-- there is asked again under the lock.
CREATE OR REPLACE FUNCTION carillon.count_in(p_queue text, p_project text, p_all boolean) RETURNS int LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_places tid[]; v_locked tid[];
BEGIN
  v_places := array(SELECT DISTINCT place FROM carillon.held_in(p_queue, p_project, p_all) AS place);
  v_locked := array(SELECT r.ctid FROM carillon.run r
                     WHERE r.ctid = ANY (v_places) AND r.queue = p_queue AND r.project = p_project AND r.limited_by IS NULL
                       AND (r.owner IS NOT NULL OR r.parked = 'suspect')
                       FOR NO KEY UPDATE SKIP LOCKED);
  UPDATE carillon.run r SET limited_by = r.queue WHERE r.ctid = ANY (v_locked);
  RETURN cardinality(v_places) - cardinality(v_locked);
END $$;
