-- min_code: 1
-- The secrets that webhooks of a project name, sealed with the master keys of the servers: who reads this table can neither sign nor call anybody.
CREATE TABLE carillon.webhook_secret (
  project        text COLLATE "C" NOT NULL REFERENCES carillon.project,
  name           text COLLATE "C" NOT NULL,
  kind           text COLLATE "C" NOT NULL CHECK (kind IN ('signing', 'value')),
  sealed         text NOT NULL,
  previous       text,                               -- signs as well, up to previous_until
  previous_until timestamptz,
  created_at     timestamptz NOT NULL DEFAULT carillon.clock(),
  created_by     text NOT NULL,
  rotated_at     timestamptz,
  PRIMARY KEY (project, name)
);

-- Whoever calls back knows the run and its token, but no project.
CREATE INDEX awaited_run ON carillon.awaited (run_id);

-- The second wall as before, with the secrets and the bulk actions; and who calls back may say that an attempt failed.
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
    carillon.key_hold, carillon.progress, carillon.awaited, carillon.idempotency, carillon.webhook_secret TO carillon_api;
  GRANT SELECT, INSERT ON carillon.run_history, carillon.ledger_gap, carillon.audit, carillon.attempt TO carillon_api;
  GRANT SELECT, INSERT, UPDATE ON carillon.api_key, carillon.bulk_action TO carillon_api;
  GRANT SELECT ON carillon.project, carillon.node TO carillon_api;
  GRANT USAGE ON SEQUENCE carillon.gate_seq TO carillon_api;
  FOREACH walled IN ARRAY ARRAY['schedule', 'run', 'dead_run', 'lane', 'gate', 'cancel_request', 'key_hold', 'progress', 'awaited', 'idempotency',
                                'run_history', 'ledger_gap', 'audit', 'api_key', 'attempt', 'project', 'bulk_action', 'webhook_secret'] LOOP
    CONTINUE WHEN EXISTS (SELECT 1 FROM pg_policies p WHERE p.schemaname = 'carillon' AND p.tablename = walled AND p.policyname = 'one_project');
    EXECUTE format('ALTER TABLE carillon.%I ENABLE ROW LEVEL SECURITY', walled);
    EXECUTE format('CREATE POLICY everybody ON carillon.%I USING (true)', walled);
    EXECUTE format('CREATE POLICY one_project ON carillon.%I AS RESTRICTIVE TO carillon_api USING (project = (SELECT current_setting(''carillon.project'', true)))',
                   walled);
  END LOOP;
  RETURN true;
END $$;
SELECT carillon.raise_wall();
