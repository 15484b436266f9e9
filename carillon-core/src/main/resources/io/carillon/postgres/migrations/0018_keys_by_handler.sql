-- min_code: 1
-- transaction: off
-- A uniqueness key belongs to a handler of a project, not to a queue: a handler that moves to another queue keeps its keys.

-- Two living runs of one handler may have the same key today, in two queues. Both go on; the elder keeps the key, so that enqueues are answered with it.
UPDATE carillon.run r SET key = NULL
  FROM (SELECT project, id, row_number() OVER (PARTITION BY project, target_name, key ORDER BY created_at, id) AS number
          FROM carillon.run WHERE key IS NOT NULL) k
 WHERE k.number > 1 AND r.project = k.project AND r.id = k.id;

DROP INDEX CONCURRENTLY IF EXISTS carillon.run_handler_key;
CREATE UNIQUE INDEX CONCURRENTLY run_handler_key ON carillon.run (project, target_name, key) WHERE key IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS carillon.run_key;

-- Windows of keys, by handler too. The column keeps its name as long as nodes of the version before may write it. What a run holds that nobody remembers
-- any more stays as it is until its window is over.
WITH held AS MATERIALIZED (
  SELECT h.project, h.queue, h.key, h.run_id, h.until, name.handler
    FROM carillon.key_hold h,
         LATERAL (SELECT coalesce((SELECT r.target_name FROM carillon.run r WHERE r.project = h.project AND r.id = h.run_id),
                                  (SELECT e.target_name FROM carillon.run_history e WHERE e.project = h.project AND e.id = h.run_id LIMIT 1)) AS handler) name
   WHERE h.queue <> name.handler),
gone AS (
  DELETE FROM carillon.key_hold h USING held
   WHERE h.project = held.project AND h.queue = held.queue AND h.key = held.key
  RETURNING held.project, held.handler, held.key, held.run_id, held.until)
INSERT INTO carillon.key_hold (project, queue, key, run_id, until)
SELECT DISTINCT ON (project, handler, key) project, handler, key, run_id, until FROM gone ORDER BY project, handler, key, until DESC
ON CONFLICT (project, queue, key) DO NOTHING;
COMMENT ON COLUMN carillon.key_hold.queue IS 'the handler whose key it is';
