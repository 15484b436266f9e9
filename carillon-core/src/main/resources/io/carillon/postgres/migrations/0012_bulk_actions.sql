-- min_code: 1
-- What is done to many runs at once: some at a time, each time in one transaction with the count of what is done. Whoever holds the row works on it; when
-- that one dies, the next goes on where it was.
CREATE TABLE carillon.bulk_action (
  project    text COLLATE "C" NOT NULL REFERENCES carillon.project,
  id         uuid NOT NULL,
  action     text COLLATE "C" NOT NULL,
  run_state  text COLLATE "C" NOT NULL,              -- the filter
  queue      text COLLATE "C",
  handler    text COLLATE "C",
  due_at     timestamptz,                            -- where runs are moved to
  state      text COLLATE "C" NOT NULL DEFAULT 'running',
  reason     text,                                   -- why it failed
  matching   bigint NOT NULL,                        -- at the start
  done       bigint NOT NULL DEFAULT 0,
  actor      text NOT NULL,
  request    text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT carillon.clock(),
  ended_at   timestamptz,
  PRIMARY KEY (project, id)
);
CREATE INDEX bulk_action_running ON carillon.bulk_action (id) WHERE state = 'running';
CREATE INDEX bulk_action_ended ON carillon.bulk_action (ended_at) WHERE ended_at IS NOT NULL;

-- The second wall, with the new table in its lists.
CREATE OR REPLACE FUNCTION carillon.raise_wall() RETURNS boolean LANGUAGE plpgsql AS $$
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
  GRANT SELECT, INSERT, UPDATE ON carillon.api_key, carillon.bulk_action TO carillon_api;
  GRANT SELECT ON carillon.attempt, carillon.project, carillon.node TO carillon_api;
  GRANT USAGE ON SEQUENCE carillon.gate_seq TO carillon_api;
  FOREACH walled IN ARRAY ARRAY['schedule', 'run', 'dead_run', 'lane', 'gate', 'cancel_request', 'key_hold', 'progress', 'awaited', 'idempotency',
                                'run_history', 'ledger_gap', 'audit', 'api_key', 'attempt', 'project', 'bulk_action'] LOOP
    CONTINUE WHEN EXISTS (SELECT 1 FROM pg_policies p WHERE p.schemaname = 'carillon' AND p.tablename = walled AND p.policyname = 'one_project');
    EXECUTE format('ALTER TABLE carillon.%I ENABLE ROW LEVEL SECURITY', walled);
    EXECUTE format('CREATE POLICY everybody ON carillon.%I USING (true)', walled);
    EXECUTE format('CREATE POLICY one_project ON carillon.%I AS RESTRICTIVE TO carillon_api USING (project = (SELECT current_setting(''carillon.project'', true)))',
                   walled);
  END LOOP;
  RETURN true;
END $$;
SELECT carillon.raise_wall();
