-- min_code: 1
-- What the server keeps: who may do what, what was done, and what was answered already.
ALTER TABLE carillon.project
  ADD COLUMN requests_per_second double precision,   -- quotas; null: the server's default
  ADD COLUMN max_schedules integer,
  ADD COLUMN max_waiting bigint;

-- Only the hash of a key's secret is kept: who reads this table can call nobody.
CREATE TABLE carillon.api_key (
  project    text COLLATE "C" NOT NULL REFERENCES carillon.project,
  id         text COLLATE "C" NOT NULL,
  hash       bytea NOT NULL,
  name       text NOT NULL,
  scopes     text[] NOT NULL,
  bootstrap  boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT carillon.clock(),
  created_by text NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  used_at    timestamptz,                            -- written at most once a minute
  PRIMARY KEY (project, id),
  UNIQUE (id)
);

-- Append-only: written in the transaction of the change it tells of.
CREATE TABLE carillon.audit (
  project text COLLATE "C" NOT NULL,
  id      uuid NOT NULL,
  at      timestamptz NOT NULL DEFAULT carillon.clock(),
  actor   text NOT NULL,
  action  text COLLATE "C" NOT NULL,
  object  text NOT NULL,
  detail  jsonb NOT NULL DEFAULT '{}',
  request text NOT NULL,
  PRIMARY KEY (project, id)
);

-- The answers of requests that carried an Idempotency-Key, in the transaction of their effect; kept for a day.
CREATE TABLE carillon.idempotency (
  project    text COLLATE "C" NOT NULL,
  key        text COLLATE "C" NOT NULL,
  request    bytea NOT NULL,                         -- what was asked for, as a hash
  status     integer,
  headers    jsonb,
  body       bytea,
  created_at timestamptz NOT NULL DEFAULT carillon.clock(),
  PRIMARY KEY (project, key)
);
CREATE INDEX idempotency_created ON carillon.idempotency (created_at);

-- What all nodes sign with.
CREATE TABLE carillon.secret (
  name  text COLLATE "C" PRIMARY KEY,
  value bytea NOT NULL
);

-- From name to name over the index, for a page about one project's queues. With the rights of its owner: behind the wall below, the rows of others could
-- not be skipped over but would have to be read.
CREATE FUNCTION carillon.queue_names() RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  WITH RECURSIVE name AS (
    (SELECT queue FROM carillon.run ORDER BY queue LIMIT 1)
    UNION ALL
    SELECT next.queue
      FROM name, LATERAL (SELECT r.queue FROM carillon.run r WHERE r.queue > name.queue ORDER BY r.queue LIMIT 1) next)
  SELECT queue FROM name
$$;

-- The second wall between projects. The server does what its callers ask for as the role carillon_api, which sees the rows of one project only, whatever a
-- statement forgets. Owners and everybody else see all rows, as before. False: the role is missing and may not be made; let somebody who may make it call
-- this function once more. New tables with a column project belong into the list.
CREATE FUNCTION carillon.raise_wall() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE walled text;
BEGIN
  BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'carillon_api') THEN CREATE ROLE carillon_api NOLOGIN; END IF;
    -- Who made a role may not take it on without this; a superuser may anyway.
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN EXECUTE format('GRANT carillon_api TO %I', current_user); END IF;
  EXCEPTION WHEN insufficient_privilege OR duplicate_object OR unique_violation OR internal_error THEN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'carillon_api') THEN RETURN false; END IF;
  END;
  GRANT USAGE ON SCHEMA carillon TO carillon_api;
  GRANT SELECT, INSERT, UPDATE, DELETE ON carillon.schedule, carillon.run, carillon.dead_run, carillon.lane, carillon.gate, carillon.cancel_request,
    carillon.key_hold, carillon.progress, carillon.awaited, carillon.idempotency TO carillon_api;
  GRANT SELECT, INSERT ON carillon.run_history, carillon.ledger_gap, carillon.audit TO carillon_api;
  GRANT SELECT, INSERT, UPDATE ON carillon.api_key TO carillon_api;
  GRANT SELECT ON carillon.attempt, carillon.project, carillon.node TO carillon_api;
  GRANT USAGE ON SEQUENCE carillon.gate_seq TO carillon_api;
  FOREACH walled IN ARRAY ARRAY['schedule', 'run', 'dead_run', 'lane', 'gate', 'cancel_request', 'key_hold', 'progress', 'awaited', 'idempotency',
                                'run_history', 'ledger_gap', 'audit', 'api_key', 'attempt', 'project'] LOOP
    CONTINUE WHEN EXISTS (SELECT 1 FROM pg_policies p WHERE p.schemaname = 'carillon' AND p.tablename = walled AND p.policyname = 'one_project');
    EXECUTE format('ALTER TABLE carillon.%I ENABLE ROW LEVEL SECURITY', walled);
    EXECUTE format('CREATE POLICY everybody ON carillon.%I USING (true)', walled);
    EXECUTE format('CREATE POLICY one_project ON carillon.%I AS RESTRICTIVE TO carillon_api USING (project = (SELECT current_setting(''carillon.project'', true)))',
                   walled);
  END LOOP;
  RETURN true;
END $$;
SELECT carillon.raise_wall();
