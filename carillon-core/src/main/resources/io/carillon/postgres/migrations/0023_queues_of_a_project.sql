-- min_code: 1
-- The names of queues among which are all that a project has runs in. carillon.queue_names() goes through those of all projects, and the list of one project's
-- queues then asked for its runs in each: beside 10,000 names 50,000 pages for a project of 30 runs. This function stops after 100 names. If there are more, it
-- reads the project's own runs, and only where those are many, too, all names. It runs with the rights of its owner for the same reason as queue_names().
CREATE OR REPLACE FUNCTION carillon.queues_of(p_project text) RETURNS SETOF text LANGUAGE plpgsql STABLE COST 1000 ROWS 100
SECURITY DEFINER SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_names text[] := '{}'; v_name text; v_runs bigint;
BEGIN
  SELECT r.queue INTO v_name FROM carillon.run r ORDER BY r.queue LIMIT 1;
  WHILE v_name IS NOT NULL AND cardinality(v_names) < 100 LOOP
    v_names := v_names || v_name;
    SELECT r.queue INTO v_name FROM carillon.run r WHERE r.queue > v_name ORDER BY r.queue LIMIT 1;
  END LOOP;
  IF v_name IS NOT NULL THEN
    SELECT count(*), coalesce(array_agg(DISTINCT own.queue), '{}') INTO v_runs, v_names
      FROM (SELECT r.queue FROM carillon.run r WHERE r.project = p_project ORDER BY r.id LIMIT 10001) own;
    IF v_runs > 10000 THEN
      v_names := array(SELECT carillon.queue_names());
    END IF;
  END IF;
  RETURN QUERY SELECT unnest(v_names);
END $$;
