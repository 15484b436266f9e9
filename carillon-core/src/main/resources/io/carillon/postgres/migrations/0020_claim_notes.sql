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
