-- min_code: 22
-- transaction: off
-- A run whose handler no living node has cannot start, and holds no place under a limit. By a concurrency or rate key a run has a place while its seq is
-- null, and waits for one with a seq below the largest number. The largest number means that it is set aside: it has no place and waits for none. So it is
-- neither counted nor passed over, however many there are. A strict line waits for such a run, because its order is what it promises.
COMMENT ON COLUMN carillon.run.seq IS 'its place in the line before its gate; null: it is through, or has none; 9223372036854775807: no living node has its handler, it is set aside';

ALTER TABLE carillon.run ADD COLUMN IF NOT EXISTS isolate boolean; -- it was a suspect when it was set aside, and is one again when a node has its handler

ALTER TABLE carillon.node ADD COLUMN IF NOT EXISTS isolated_at timestamptz; -- when it last claimed runs to try them in isolation

CREATE OR REPLACE FUNCTION carillon.seq_without_handler(p_gate_key text, p_seq bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_gate_key ~ '^(concurrency|rate):' THEN 9223372036854775807 ELSE p_seq END
$$;

-- As in 0015, but runs that no living node has a handler for are set aside.
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
         seq = CASE WHEN r.target_name = ANY (v_known) THEN r.seq ELSE carillon.seq_without_handler(r.gate_key, r.seq) END,
         ready_at = CASE WHEN r.target_name <> ALL (v_known) THEN 'infinity'
                         WHEN r.ready_at = 'infinity' THEN carillon.clock() ELSE r.ready_at END
   WHERE r.ctid = ANY (v_places)
  RETURNING CASE WHEN r.target_name = ANY (v_known) THEN r.target_name END;
END $$;

-- Sets suspects aside whose handler no living node has, at most 5,000 of each handler, and says how many. From handler to handler over the index of parked
-- runs. A run that another transaction has locked is found by the next sweep; one whose handler came back meanwhile, by the next heartbeat.
CREATE OR REPLACE FUNCTION carillon.set_suspects_aside() RETURNS int LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_name text; v_places tid[]; v_all int := 0;
BEGIN
  SELECT r.target_name INTO v_name FROM carillon.run r WHERE r.parked = 'suspect' ORDER BY r.target_name LIMIT 1;
  WHILE v_name IS NOT NULL LOOP
    IF NOT EXISTS (SELECT 1 FROM carillon.node n WHERE n.dead_at IS NULL AND v_name = ANY (n.handlers)) THEN
      v_places := array(SELECT r.ctid FROM carillon.run r WHERE r.parked = 'suspect' AND r.target_name = v_name AND r.owner IS NULL
                         ORDER BY r.due_at LIMIT 5000 FOR UPDATE SKIP LOCKED);
      UPDATE carillon.run r SET parked = 'no-handler', isolate = true, limited_by = NULL, seq = carillon.seq_without_handler(r.gate_key, r.seq)
       WHERE r.ctid = ANY (v_places);
      v_all := v_all + cardinality(v_places);
    END IF;
    SELECT r.target_name INTO v_name FROM carillon.run r WHERE r.parked = 'suspect' AND r.target_name > v_name ORDER BY r.target_name LIMIT 1;
  END LOOP;
  RETURN v_all;
END $$;

-- Whether there are suspects to set aside. Each heartbeat asks; nearly always there is no suspect at all.
CREATE OR REPLACE FUNCTION carillon.suspects_without_handler() RETURNS boolean LANGUAGE plpgsql STABLE COST 1
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE v_name text;
BEGIN
  SELECT r.target_name INTO v_name FROM carillon.run r WHERE r.parked = 'suspect' AND r.owner IS NULL ORDER BY r.target_name LIMIT 1;
  WHILE v_name IS NOT NULL LOOP
    IF NOT EXISTS (SELECT 1 FROM carillon.node n WHERE n.dead_at IS NULL AND v_name = ANY (n.handlers)) THEN RETURN true; END IF;
    SELECT r.target_name INTO v_name FROM carillon.run r WHERE r.parked = 'suspect' AND r.target_name > v_name AND r.owner IS NULL ORDER BY r.target_name LIMIT 1;
  END LOOP;
  RETURN false;
END $$;

-- Those of earlier versions.
UPDATE carillon.run r SET seq = carillon.seq_without_handler(r.gate_key, r.seq)
 WHERE r.parked = 'no-handler' AND r.seq IS NULL AND r.gate_key ~ '^(concurrency|rate):';
