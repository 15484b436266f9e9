-- min_code: 1
-- What a node holds, found without a scan of the waiting runs. Each claim adds one row in its own statement, so that both commit together; the node
-- removes rows whose runs have ended. Ids stay inside the row up to a page, uncompressed: a claim of 500 costs one row.
CREATE TABLE carillon.claim_note (
  node     uuid NOT NULL,
  seq      bigint NOT NULL,              -- the node's number of the claim
  projects text[] COLLATE "C" NOT NULL,  -- one for all ids, or one for each
  ids      uuid[] NOT NULL
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_threshold = 2000000000);
ALTER TABLE carillon.claim_note ALTER COLUMN ids SET STORAGE EXTERNAL, ALTER COLUMN projects SET STORAGE EXTERNAL;
CREATE INDEX claim_note_node ON carillon.claim_note (node, seq);

ALTER TABLE carillon.node
  ADD COLUMN notes boolean NOT NULL DEFAULT false, -- whether it notes its claims; a dead node that did not is found by a scan
  ADD COLUMN judged_at timestamptz,                -- when its death was judged: once, before the first of its runs is released
  ADD COLUMN sole_run uuid;                        -- the only run that can have caused its death; null: there were several, or none

-- The requests to cancel runs that a node holds: from its notes to the requests by their key, so that no project's requests stand before another's. A
-- function, because its plan must not depend on statistics: cancel_request is rarely analyzed, run may have been analyzed while it was empty or full, and a
-- join of the two is estimated to be so expensive that PostgreSQL compiles it at each heartbeat.
CREATE FUNCTION carillon.cancel_requests_of(p_owner uuid)
RETURNS TABLE (project text, run_id uuid, reason text) LANGUAGE plpgsql COST 1 ROWS 1
SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM carillon.cancel_request) THEN RETURN; END IF;
  RETURN QUERY
  SELECT DISTINCT c.project, c.run_id, c.reason
    FROM carillon.claim_note n, unnest(n.ids) WITH ORDINALITY AS noted(id, number),
         LATERAL (SELECT q.project, q.run_id, q.reason FROM carillon.cancel_request q
                   WHERE q.project = coalesce(n.projects[noted.number::int], n.projects[1]) AND q.run_id BETWEEN noted.id AND noted.id
                   ORDER BY q.run_id LIMIT 1) c,
         LATERAL (SELECT 1 FROM carillon.run r
                   WHERE r.project = c.project AND r.id BETWEEN c.run_id AND c.run_id AND r.owner = p_owner
                   ORDER BY r.id LIMIT 1) held
   WHERE n.node = p_owner;
END $$;
