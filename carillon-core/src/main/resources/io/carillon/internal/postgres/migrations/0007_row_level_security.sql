-- min_code: 1
-- Row-level security: the second protection between projects, in addition to the conditions of the statements.

-- Creates the role carillon_api, and the policies and privileges for it. The server executes the requests of its
-- callers with this role. It sees the rows of one project only, even if a statement lacks the condition. The owner and
-- all other roles see all rows. Returns false if the role does not exist and the current user may not create it; then a
-- user who may create roles calls this function once. A new table with a column project must be added to the list.
CREATE FUNCTION carillon.enable_row_security() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE v_table text;
BEGIN
  BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'carillon_api') THEN CREATE ROLE carillon_api NOLOGIN; END IF;
    -- The creator of a role needs a grant to use SET ROLE; a superuser does not.
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
      EXECUTE format('GRANT carillon_api TO %I', current_user);
    END IF;
  EXCEPTION WHEN insufficient_privilege OR duplicate_object OR unique_violation OR internal_error THEN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'carillon_api') THEN RETURN false; END IF;
  END;
  GRANT USAGE ON SCHEMA carillon TO carillon_api;
  GRANT SELECT, INSERT, UPDATE, DELETE ON carillon.schedule, carillon.run, carillon.dead_run, carillon.lane,
    carillon.gate, carillon.cancel_request, carillon.unique_key_window, carillon.progress, carillon.open_attempt,
    carillon.run_wait, carillon.idempotency, carillon.endpoint, carillon.endpoint_secret, carillon.event_subscription,
    carillon.event_cursor, carillon.project_member TO carillon_api;
  GRANT SELECT, INSERT ON carillon.run_history, carillon.ledger_gap, carillon.audit, carillon.attempt,
    carillon.event_store, carillon.event_publish_id TO carillon_api;
  GRANT SELECT, INSERT, UPDATE ON carillon.api_key, carillon.bulk_action, carillon.event_key_version TO carillon_api;
  -- Users belong to no project: the role sees those who are members of the current one, and no sessions.
  GRANT SELECT ON carillon.app_user TO carillon_api;
  GRANT SELECT ON carillon.project, carillon.stats_minute, carillon.stats_hour TO carillon_api;
  -- A change of members locks the project, and records that it has had an admin.
  GRANT UPDATE (had_admin) ON carillon.project TO carillon_api;
  -- Snapshots, epochs and the place of the dispatch belong to no project and contain numbers of transactions only.
  GRANT SELECT ON carillon.event_snapshot, carillon.event_epoch, carillon.event_dispatch TO carillon_api;
  -- Nodes move relays and sources. Callers read them, and decide about what was rejected or blocks.
  GRANT SELECT, DELETE ON carillon.event_relay, carillon.event_relay_held TO carillon_api;
  GRANT UPDATE (state) ON carillon.event_relay_held TO carillon_api;
  GRANT SELECT, UPDATE, DELETE ON carillon.event_source TO carillon_api;
  GRANT SELECT, DELETE ON carillon.event_source_unpublished TO carillon_api;
  GRANT SELECT ON carillon.workflow_step_history TO carillon_api;
  GRANT SELECT, INSERT ON carillon.workflow_signal, carillon.workflow_step TO carillon_api;
  -- Nodes belong to no project: their names, hosts and processes are not for tenants.
  GRANT SELECT (id, handlers, workflows, slots, busy, dead_at) ON carillon.node TO carillon_api;
  GRANT USAGE ON SEQUENCE carillon.gate_position_seq, carillon.event_seq, carillon.event_cursor_seq
    TO carillon_api;
  FOREACH v_table IN ARRAY ARRAY['schedule', 'run', 'dead_run', 'lane', 'gate', 'cancel_request', 'unique_key_window',
                                 'progress', 'open_attempt', 'run_wait', 'workflow_step', 'workflow_step_history',
                                 'workflow_signal', 'idempotency', 'run_history', 'ledger_gap', 'audit',
                                 'api_key', 'attempt', 'project', 'bulk_action', 'endpoint',
                                 'endpoint_secret', 'stats_minute', 'stats_hour', 'event_store', 'event_key_version',
                                 'event_subscription', 'event_cursor', 'event_publish_id', 'event_relay',
                                 'event_relay_held', 'event_source', 'event_source_unpublished', 'project_member'] LOOP
    CONTINUE WHEN EXISTS (SELECT 1 FROM pg_policies p
                           WHERE p.schemaname = 'carillon' AND p.tablename = v_table
                             AND p.policyname = 'current_project_only');
    EXECUTE format('ALTER TABLE carillon.%I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format('CREATE POLICY all_rows ON carillon.%I USING (true)', v_table);
    EXECUTE format('CREATE POLICY current_project_only ON carillon.%I AS RESTRICTIVE TO carillon_api '
                   'USING (project = (SELECT current_setting(''carillon.project'', true)))', v_table);
  END LOOP;
  IF NOT EXISTS (SELECT 1 FROM pg_policies WHERE schemaname = 'carillon' AND tablename = 'app_user') THEN
    ALTER TABLE carillon.app_user ENABLE ROW LEVEL SECURITY;
    CREATE POLICY all_rows ON carillon.app_user USING (true);
    CREATE POLICY members_only ON carillon.app_user AS RESTRICTIVE TO carillon_api
      USING (EXISTS (SELECT 1 FROM carillon.project_member m
                      WHERE m.user_id = app_user.id
                        AND m.project = (SELECT current_setting('carillon.project', true))));
  END IF;
  RETURN true;
END $$;
SELECT carillon.enable_row_security();
