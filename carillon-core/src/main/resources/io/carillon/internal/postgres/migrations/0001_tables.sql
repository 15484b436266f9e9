-- min_code: 1
-- The tables of the engine, with their indexes. The tables that only the server uses are in 0002_server_tables.sql.
--
-- Names (projects, queues, handlers, keys) are text COLLATE "C": they compare bytewise, and their order is never
-- shown. All stored times come from carillon.clock().

-- Returns the current time. All statements of Carillon use this function and no other clock, so that the test kit can
-- replace its body and control the time in its own database. It is STABLE because a volatile function cannot be an
-- index condition.
CREATE FUNCTION carillon.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT statement_timestamp()
$$;

-- A row is a project, the tenant to which every other row belongs. A library user has the project 'default'.
CREATE TABLE carillon.project (
  project             text COLLATE "C" PRIMARY KEY,        -- its name, which never changes
  id                  uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
  owner               uuid,                              -- a user of the server; null: none
  requests_per_second double precision,                  -- quotas of the server; null: the default of the server
  max_schedules       integer,
  max_waiting         bigint,
  max_bulk_actions    integer,
  max_streams         integer,
  max_endpoints       integer,
  max_subscriptions   integer,
  ad_hoc_urls         boolean NOT NULL DEFAULT true,     -- false: webhooks call endpoints only
  had_admin           boolean NOT NULL DEFAULT false,    -- whether it has ever had a user as its admin
  created_at          timestamptz NOT NULL DEFAULT carillon.clock()
);
INSERT INTO carillon.project (project) VALUES ('default');

-- A row is a schedule: when it is due, what it starts, and how far it is planned.
CREATE TABLE carillon.schedule (
  project          text COLLATE "C" NOT NULL REFERENCES carillon.project,
  id               uuid NOT NULL,
  name             text COLLATE "C" NOT NULL,
  version          bigint NOT NULL DEFAULT 1,            -- raised by each edit; guards planning writes
  -- When it is due.
  kind             text COLLATE "C" NOT NULL CHECK (kind IN ('cron', 'interval', 'once')),
  expression       text NOT NULL,                        -- the cron expression, the interval, or '' for 'once'
  zone             text NOT NULL,
  anchor           timestamptz,                          -- start of an interval, instant of 'once'; null for cron
  gap              text NOT NULL,                        -- policy for local times that a clock change skips
  repeat           text NOT NULL,                        -- policy for local times that a clock change repeats
  starts_at        timestamptz,                          -- null: no lower bound
  ends_at          timestamptz,                          -- null: no upper bound
  excluded         date[] NOT NULL DEFAULT '{}',
  jitter           interval NOT NULL DEFAULT '0',
  max_runs         bigint,                               -- null: unlimited
  owner            text COLLATE "C" NOT NULL DEFAULT 'api' CHECK (owner IN ('api', 'code')), -- who defined it
  -- What it starts. These columns are copied to each run.
  queue            text COLLATE "C" NOT NULL,
  priority         smallint NOT NULL,
  target           text COLLATE "C" NOT NULL,
  target_name      text COLLATE "C" NOT NULL,
  payload          bytea NOT NULL,
  codec            text COLLATE "C" NOT NULL,
  headers          text,                                 -- of each run; null: none
  policy           text,                                 -- of each run; null: none
  -- Policies for instants that are late or overlap.
  missed           text COLLATE "C" NOT NULL,
  missed_cap       integer NOT NULL,
  missed_spread    interval NOT NULL,
  grace            interval NOT NULL,
  catch_up         interval NOT NULL,
  overlap          text COLLATE "C" NOT NULL,
  pause_after      integer,                              -- consecutive failures until it pauses itself; null: never
  -- An adaptive interval. Its current length is stored in expression, its latest instant in anchor.
  adaptive_min     interval,                             -- null: the interval is fixed
  adaptive_max     interval,
  adapted_cursor   timestamptz,                          -- the cursor for which the backlog was last read
  adaptive_backlog bigint NOT NULL DEFAULT 0,            -- waiting runs of the lane at that time
  -- How far it is planned.
  cursor           timestamptz NOT NULL,                 -- each instant up to here has a run or a recorded reason
  next_at          timestamptz NOT NULL,                 -- the first instant after the cursor; infinity: none
  ticks            bigint NOT NULL DEFAULT 0,            -- number of runs planned so far
  tzdata           text NOT NULL,                        -- version of the time zone rules used for planning
  paused_at        timestamptz,                          -- null: not paused
  paused_by        text,
  paused_reason    text,
  paused_until     timestamptz,                          -- null: until a caller resumes it
  created_at       timestamptz NOT NULL DEFAULT carillon.clock(),
  updated_at       timestamptz NOT NULL DEFAULT carillon.clock(),
  PRIMARY KEY (project, id),
  UNIQUE (project, name)
) WITH (fillfactor = 80);
-- The planner finds the schedules that are due soon.
CREATE INDEX schedule_next ON carillon.schedule (next_at) WHERE paused_at IS NULL;
-- The schedules that applications declare, which a start compares with those of its code.
CREATE INDEX schedule_of_code ON carillon.schedule (project, name) WHERE owner = 'code';
CREATE INDEX schedule_paused_until ON carillon.schedule (paused_until) WHERE paused_until IS NOT NULL;
-- Adaptive schedules whose interval has not been adapted since their cursor moved.
CREATE INDEX schedule_adaptive ON carillon.schedule (cursor)
  WHERE adaptive_min IS NOT NULL AND paused_at IS NULL AND adapted_cursor IS DISTINCT FROM cursor;
-- Schedules that new time zone rules can affect. UTC has no rules. The id makes each entry a position from which the
-- next batch is read.
CREATE INDEX schedule_tzdata ON carillon.schedule (tzdata COLLATE "C", id)
  WHERE kind <> 'once' AND zone <> 'UTC' AND zone <> 'Z';

-- A row is a run that waits or is being executed. When a run ends, its row moves to run_history. A claim must be a
-- HOT update. It writes owner, attempt, leased_until and started_at. No index has these columns, except leased_until,
-- which only the claim of a caller without a heartbeat sets. A claim makes the row longer, so more than half of each
-- page stays free. With a fillfactor of 50, one claim in twenty found no free space on its page.
CREATE TABLE carillon.run (
  project         text COLLATE "C" NOT NULL,
  id              uuid NOT NULL,
  queue           text COLLATE "C" NOT NULL,
  priority        smallint NOT NULL,
  node_deaths     smallint NOT NULL DEFAULT 0,           -- nodes that died while they held this run
  crashes         smallint NOT NULL DEFAULT 0,           -- nodes that died while they executed only this run
  attempt         integer NOT NULL DEFAULT 0,            -- raised by each claim; fences writes together with owner
  failures        integer NOT NULL DEFAULT 0,
  due_at          timestamptz NOT NULL,
  ready_at        timestamptz NOT NULL,                  -- when it can be claimed; infinity while it is parked
  start_by        timestamptz NOT NULL DEFAULT 'infinity', -- a tick that has not started by then is late
  may_start_late  boolean,                               -- true: the missed policy lets this tick start late
  started_at      timestamptz,                           -- when the current attempt was claimed; null: it waits
  owner           uuid,                                  -- the node or caller that holds it; null: it waits
  leased_until    timestamptz,                           -- null: the lease is valid while the owning node is alive
  planned_at      timestamptz,                           -- the instant of the schedule; null: not planned
  day             date NOT NULL,                         -- UTC day of planned_at, else of due_at
  schedule_id     uuid,
  parent_id       uuid,
  gate_position   bigint,
  created_at      timestamptz NOT NULL DEFAULT carillon.clock(),
  origin          text COLLATE "C" NOT NULL,
  target          text COLLATE "C" NOT NULL,
  target_name     text COLLATE "C" NOT NULL,             -- the handler
  codec           text COLLATE "C" NOT NULL,
  payload         bytea NOT NULL,
  key             text COLLATE "C",                      -- unique among the runs of the handler; null: none
  -- The limit or order by key that the run is subject to. No table stores how many runs of a key have passed: they are
  -- counted, so that a crash cannot leave a wrong count behind.
  gate_key        text COLLATE "C",                      -- null: none, and the other gate columns are null
  gate_limit      integer,                               -- runs of the key that may have passed; null: one
  gate_arrival_at timestamptz,                           -- when it arrives at its gate; null: it has arrived or passed
  limited_by      text COLLATE "C",                      -- the queue whose limit counts this run; null: none does
  parked          text COLLATE "C",                      -- why it cannot be claimed: 'running', 'isolated', 'gate',
                                                         -- 'no-handler', 'awaiting' or 'run-wait'; null: it is not
                                                         -- parked
  was_isolated    boolean,                               -- true: it was isolated before it was parked as no-handler
  headers         text,                                  -- null: none
  policy          text,                                  -- its own retry and timeout; null: those of the handler
  PRIMARY KEY (project, id)
) WITH (fillfactor = 45, vacuum_truncate = false,
        autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 1,
        autovacuum_vacuum_insert_scale_factor = 0.5, autovacuum_analyze_scale_factor = 0.2);
COMMENT ON COLUMN carillon.run.gate_position IS
  'position among the runs that wait at its gate; null: it has passed or has no gate; '
  '9223372036854775807: no live node has its handler, so it neither waits nor counts';
-- Claims read the runs of one handler in one lane and priority. Runs of other handlers in the same lane are not read.
-- The project is first, so that a list of the queues of one project does not read those of the others.
CREATE INDEX run_lane_handler ON carillon.run (project, queue, priority, target_name, ready_at);
-- The first runs of all lanes. The index is partial so that a claim from one lane cannot use it: while the table
-- counts as empty, the planner would find it as cheap as run_lane_handler.
CREATE INDEX run_ready ON carillon.run (ready_at) WHERE ready_at < 'infinity';
-- Late ticks. Once a run has been started, its start_by is infinity.
CREATE INDEX run_start_by ON carillon.run (start_by) WHERE start_by < 'infinity';
-- Each instant of a schedule has at most one run.
CREATE UNIQUE INDEX run_instant ON carillon.run (schedule_id, planned_at) WHERE origin IN ('tick', 'backfill');
CREATE UNIQUE INDEX run_handler_key ON carillon.run (project, target_name, key) WHERE key IS NOT NULL;
CREATE INDEX run_leased ON carillon.run (leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX run_parked ON carillon.run (parked, target_name, due_at) WHERE parked IS NOT NULL;
-- Runs of a gate that have passed (gate_position is null) or wait (in its order), and runs that have not arrived yet.
CREATE INDEX run_gate ON carillon.run (project, gate_key, gate_position) WHERE gate_key IS NOT NULL;
CREATE INDEX run_gate_arrival ON carillon.run (gate_arrival_at) WHERE gate_arrival_at IS NOT NULL;
-- The run that a redrive created for a dead run, and below the same for ended ones.
CREATE INDEX run_redriven ON carillon.run (project, parent_id) WHERE origin = 'redrive';
-- The children of a workflow.
CREATE INDEX run_child ON carillon.run (project, parent_id) WHERE origin = 'workflow';
-- Runs that count towards the limit of their lane.
CREATE INDEX run_limited ON carillon.run (project, limited_by) WHERE limited_by IS NOT NULL;

-- Positions of runs with a FIFO key. They are taken under a lock on the key and so have the order of the commits.
CREATE SEQUENCE carillon.gate_position_seq;

-- A row is a run that has ended. Rows are only inserted. Each day is a partition; there is no default partition. When
-- an insert finds no partition, the node creates it and repeats the statement.
CREATE TABLE carillon.run_history (
  project       text COLLATE "C" NOT NULL,
  id            uuid NOT NULL,
  day           date NOT NULL,                           -- see carillon.history_day
  queue         text COLLATE "C" NOT NULL,
  priority      smallint NOT NULL,
  node_deaths   smallint NOT NULL,
  crashes       smallint NOT NULL,
  attempt       integer NOT NULL,
  failures      integer NOT NULL,
  due_at        timestamptz NOT NULL,
  planned_at    timestamptz,
  started_at    timestamptz,                             -- null: it never started
  ended_at      timestamptz NOT NULL,
  created_at    timestamptz NOT NULL,
  schedule_id   uuid,
  parent_id     uuid,
  owner         uuid,
  state         text COLLATE "C" NOT NULL
                CHECK (state IN ('succeeded', 'dead', 'cancelled', 'quarantined', 'skipped', 'missed')),
  origin        text COLLATE "C" NOT NULL,
  target        text COLLATE "C" NOT NULL,
  target_name   text COLLATE "C" NOT NULL,
  key           text COLLATE "C",
  reason        text,                                    -- the error, or why the run was skipped, missed or cancelled
  result_codec  text COLLATE "C",
  result        bytea,
  payload_codec text COLLATE "C",
  payload       bytea,                                   -- null: the handler does not ask to keep it
  log           text,
  delivery      text,                                    -- what the target reports about its delivery; null: nothing
  headers       text,
  policy        text
) PARTITION BY RANGE (day);
-- Pages of a project's runs, and lookups by id, which always know the project.
CREATE INDEX run_history_run ON carillon.run_history (project, id);
-- Each instant of a schedule has at most one entry. This holds for runs that have left the table carillon.run.
CREATE UNIQUE INDEX run_history_instant ON carillon.run_history (schedule_id, planned_at, day)
  WHERE origin IN ('tick', 'backfill');
CREATE INDEX run_history_redriven ON carillon.run_history (project, parent_id) WHERE origin = 'redrive';
CREATE INDEX run_history_child ON carillon.run_history (project, parent_id) WHERE origin = 'workflow';
-- The runs of an event.
CREATE INDEX run_history_event ON carillon.run_history (project, key) WHERE origin = 'event';
CREATE INDEX run_history_ended ON carillon.run_history USING brin (ended_at);

-- A row is an attempt that did not end its run.
CREATE TABLE carillon.attempt (
  project     text COLLATE "C" NOT NULL,
  run_id      uuid NOT NULL,
  attempt     integer NOT NULL,
  day         date NOT NULL,                             -- see carillon.history_day
  owner       uuid NOT NULL,
  started_at  timestamptz,
  ended_at    timestamptz NOT NULL,
  outcome     text COLLATE "C" NOT NULL CHECK (outcome IN ('failed', 'timed-out', 'snoozed', 'crashed')),
  error       text,
  retry_delay interval,                                  -- before the next attempt; null: none
  log         text,
  delivery    text,                                      -- what the target reports about its delivery; null: nothing
  PRIMARY KEY (project, run_id, attempt, day)
) PARTITION BY RANGE (day);

-- A row is a range of consecutive instants of a schedule that got no run.
CREATE TABLE carillon.ledger_gap (
  project     text COLLATE "C" NOT NULL,
  schedule_id uuid NOT NULL,
  from_at     timestamptz NOT NULL,                      -- the first and the last instant, both inclusive
  to_at       timestamptz NOT NULL,
  day         date NOT NULL,                             -- UTC day of to_at
  count       bigint NOT NULL CHECK (count > 0),
  state       text COLLATE "C" NOT NULL CHECK (state IN ('skipped', 'missed', 'cancelled')),
  reason      text NOT NULL,
  version     bigint NOT NULL,                           -- of the schedule
  created_at  timestamptz NOT NULL DEFAULT carillon.clock()
) PARTITION BY RANGE (day);
CREATE UNIQUE INDEX ledger_gap_range ON carillon.ledger_gap (schedule_id, from_at, day);

-- A row is a dead or quarantined run with its payload, kept until it is redriven or purged.
CREATE TABLE carillon.dead_run (
  project     text COLLATE "C" NOT NULL,
  id          uuid NOT NULL,
  state       text COLLATE "C" NOT NULL CHECK (state IN ('dead', 'quarantined')),
  queue       text COLLATE "C" NOT NULL,
  priority    smallint NOT NULL,
  attempt     integer NOT NULL,
  failures    integer NOT NULL,
  crashes     smallint NOT NULL,
  owner       uuid,
  due_at      timestamptz NOT NULL,
  planned_at  timestamptz,
  schedule_id uuid,
  origin      text COLLATE "C" NOT NULL,
  target      text COLLATE "C" NOT NULL,
  target_name text COLLATE "C" NOT NULL,
  codec       text COLLATE "C" NOT NULL,
  payload     bytea NOT NULL,
  key         text COLLATE "C",
  gate_key    text COLLATE "C",
  gate_limit  integer,
  headers     text,
  policy      text,
  error       text,
  died_at     timestamptz NOT NULL,
  PRIMARY KEY (project, id)
);
CREATE INDEX dead_run_died ON carillon.dead_run (died_at);

-- A row is the state of a start rate: of a lane ('lane', where key is the queue), or of a rate key ('rate').
CREATE TABLE carillon.gate (
  project          text COLLATE "C" NOT NULL,
  kind             text COLLATE "C" NOT NULL CHECK (kind IN ('lane', 'rate')),
  key              text COLLATE "C" NOT NULL,
  available_starts double precision,                     -- lane: starts that are available at checked_at
  passed_unclaimed integer NOT NULL DEFAULT 0,           -- rate: runs that have passed and were not yet seen claimed
  recent_starts    timestamptz[],                        -- rate: starts of the current time window
  promoter_id      uuid,                                 -- rate: the process that checks when the next run may pass
  checked_at       timestamptz,                          -- when available_starts was computed, or the promoter checked
  PRIMARY KEY (project, kind, key)
) WITH (fillfactor = 50);

-- A row is a lane (a queue of a project) that has a pause, a limit, a weight or a setting of its breaker. Other lanes
-- have no row.
CREATE TABLE carillon.lane (
  queue                 text COLLATE "C" NOT NULL,
  project               text COLLATE "C" NOT NULL,
  weight                integer NOT NULL DEFAULT 1,
  paused_at             timestamptz,                     -- null: not paused
  paused_by             text,
  paused_reason         text,
  max_running           integer,                         -- null: unlimited
  rate                  double precision,                -- starts per second; null: unlimited
  recount_until         timestamptz,                     -- until then, claims also count runs claimed before the
                                                         -- limit was set; infinity: no claim has seen the limit yet;
                                                         -- null: all runs are counted
  breaker_enabled       boolean,                         -- null: only the queue of an endpoint has a breaker
  breaker               text COLLATE "C" NOT NULL DEFAULT 'closed' CHECK (breaker IN ('closed', 'open', 'half-open')),
  breaker_until         timestamptz,                     -- when the breaker allows the next probe
  breaker_failed_probes integer NOT NULL DEFAULT 0,      -- consecutive probes that failed
  held_back_since       timestamptz,                     -- see carillon.track_held_back_times; null: never held back
  held_back_until       timestamptz,                     -- null: held back now, or never
  PRIMARY KEY (project, queue)
);

-- Sets held_back_since and held_back_until: since when a pause, a limit or a breaker has held the lane back, and when
-- the last of them was removed. A tick whose grace period ended in between is late and not missed, even if the planner
-- sees it later. This is a trigger because several statements set and remove pauses, limits and breakers.
CREATE FUNCTION carillon.track_held_back_times() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_held boolean := NEW.paused_at IS NOT NULL OR NEW.breaker <> 'closed' OR NEW.max_running IS NOT NULL
                    OR NEW.rate IS NOT NULL;
BEGIN
  IF v_held AND (NEW.held_back_since IS NULL OR NEW.held_back_until IS NOT NULL) THEN
    NEW.held_back_since := carillon.clock();
    NEW.held_back_until := NULL;
  ELSIF NOT v_held AND NEW.held_back_since IS NOT NULL AND NEW.held_back_until IS NULL THEN
    NEW.held_back_until := carillon.clock();
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER track_held_back_times BEFORE INSERT OR UPDATE ON carillon.lane
  FOR EACH ROW EXECUTE FUNCTION carillon.track_held_back_times();

-- A row is a node: one start of an engine. A heartbeat changes no indexed column.
CREATE TABLE carillon.node (
  id                    uuid PRIMARY KEY,
  name                  text NOT NULL,
  host                  text NOT NULL,
  pid                   bigint NOT NULL,
  version               text NOT NULL,
  code                  integer NOT NULL,                -- the newest migration it knows
  handlers              text[] NOT NULL,
  workflows             text[] NOT NULL DEFAULT '{}',    -- those handlers that are workflows
  slots                 integer NOT NULL,
  busy                  integer NOT NULL DEFAULT 0,
  wakeup                text NOT NULL,
  started_at            timestamptz NOT NULL DEFAULT carillon.clock(),
  heartbeat_count       bigint NOT NULL DEFAULT 0,       -- raised by each heartbeat; other nodes watch it
  heartbeat_at          timestamptz NOT NULL DEFAULT carillon.clock(), -- for display only
  dead_at               timestamptz,                     -- null: alive
  dead_reason           text,
  rescued_at            timestamptz,                     -- when its runs were last released; null: not yet
  death_analyzed_at     timestamptz,                     -- when the cause of its death was analyzed, before any release
  probable_cause_run_id uuid,                            -- the only run that can have caused it; null: none, or several
  last_isolation_at     timestamptz                      -- when it last claimed runs to execute them in isolation
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);

-- A row is the list of runs that one claim of a node took. The claim inserts it in its own statement, so that
-- both commit together; the node deletes it when the runs have ended. The runs of a node are found through these
-- rows, without a scan. Arrays are stored in the row, uncompressed, up to the size of a page: a claim of 500 runs
-- costs one row.
CREATE TABLE carillon.claim_record (
  node         uuid NOT NULL,
  claim_number bigint NOT NULL,                          -- the node's number of the claim
  projects     text[] COLLATE "C" NOT NULL,              -- one project for all runs, or one for each
  run_ids      uuid[] NOT NULL
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_cost_delay = 0, autovacuum_vacuum_insert_threshold = -1,
        autovacuum_analyze_threshold = 2000000000);
ALTER TABLE carillon.claim_record ALTER COLUMN run_ids SET STORAGE EXTERNAL, ALTER COLUMN projects SET STORAGE EXTERNAL;
CREATE INDEX claim_record_node ON carillon.claim_record (node, claim_number);

-- A row is what one node reports about its attempts in one lane during the last minute. Breakers are opened by it.
CREATE TABLE carillon.lane_attempt_stats (
  queue     text COLLATE "C" NOT NULL,
  project   text COLLATE "C" NOT NULL,
  node      uuid NOT NULL,
  succeeded integer NOT NULL,                            -- number of attempts
  failed    integer NOT NULL,
  at        timestamptz NOT NULL,
  PRIMARY KEY (queue, project, node)
) WITH (fillfactor = 50);

-- A row is a right that one node holds until it expires. In leader mode, the row 'planning' is the planning token, the
-- row 'claiming' the claim token.
CREATE TABLE carillon.leader_token (
  name       text COLLATE "C" PRIMARY KEY,
  owner      uuid NOT NULL,
  epoch      bigint NOT NULL,                            -- raised when another node takes it
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- A row is a request to cancel a run that is being executed. Its node reads it with the next heartbeat.
CREATE TABLE carillon.cancel_request (
  project      text COLLATE "C" NOT NULL,
  run_id       uuid NOT NULL,
  reason       text NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT carillon.clock(),
  PRIMARY KEY (project, run_id)
);

-- A row is what an attempt reported so far. The heartbeat writes it; maintenance deletes it after the run ended.
CREATE TABLE carillon.progress (
  project text COLLATE "C" NOT NULL,
  run_id  uuid NOT NULL,
  attempt integer NOT NULL,
  done    bigint,                                        -- null: no progress was reported
  total   bigint,
  log     text,                                          -- the end of the log; null: it is empty
  at      timestamptz NOT NULL,
  PRIMARY KEY (project, run_id)
) WITH (fillfactor = 50);

-- A row is an attempt whose outcome a caller outside the node will report. Its run is parked as 'awaiting' and
-- leased. The row is valid for this attempt only.
CREATE TABLE carillon.open_attempt (
  project             text COLLATE "C" NOT NULL,
  run_id              uuid NOT NULL,
  attempt             integer NOT NULL,
  owner               uuid NOT NULL,                     -- the node that executed it; run.owner is a random id
  callback_token_hash text COLLATE "C" NOT NULL,         -- SHA-256
  retry_delay_seconds double precision,                  -- null: a failure ends the run
  log                 text,
  delivery            text,                              -- what the target reports about its delivery; null: nothing
  keep_payload        boolean NOT NULL DEFAULT false,    -- whether the history keeps the payload
  PRIMARY KEY (project, run_id)
);
-- A caller knows the run and the callback token, but not the project.
CREATE INDEX open_attempt_run ON carillon.open_attempt (run_id);

-- A row says that a run waits for the end of another run. It is deleted when it is resolved. The waiting run is parked
-- as 'run-wait' until it has no row left, except with 'wake': then it is a workflow that awaits the run, see
-- workflow_step.
CREATE TABLE carillon.run_wait (
  project    text COLLATE "C" NOT NULL,
  run_id     uuid NOT NULL,
  awaited_id uuid NOT NULL,                              -- of the same project
  on_failure text COLLATE "C" NOT NULL CHECK (on_failure IN ('cancel', 'run-anyway', 'wait', 'wake')),
  PRIMARY KEY (project, run_id, awaited_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX run_wait_awaited ON carillon.run_wait (project, awaited_id);

-- A row is what a step of a workflow did, or a wait of a workflow, or what ended the wait. It is inserted once, by the
-- attempt that executed the step, and never changed.
-- Maintenance moves the rows of a run to workflow_step_history after it has ended.
CREATE TABLE carillon.workflow_step (
  project     text COLLATE "C" NOT NULL,
  run_id      uuid NOT NULL,
  position    integer NOT NULL,                          -- of the call in the code of the workflow, from 0
  path        text COLLATE "C" NOT NULL,                 -- the name of the step, with its key; of an await, the name of
                                                         -- the signal, with # and a number from the second await on
  kind        text COLLATE "C" NOT NULL
              -- 'signal' and 'timeout' answer 'await', 'run-ended' answers 'await-run'
              -- 'undo' says that the next step can be undone. From 'compensate' on, whose path says whether the
              -- workflow 'failed' or was 'cancelled', each record 'undone' is about a step that was undone.
              -- 'each' reserves the next positions for steps that are executed in parallel; its value has their keys.
              CHECK (kind IN ('step', 'each', 'sleep', 'await', 'signal', 'timeout', 'await-run', 'run-ended', 'undo',
                              'compensate', 'undone', 'version')),
  owner       uuid NOT NULL,                             -- the fence of the attempt that inserted the row
  attempt     integer NOT NULL,
  failures    integer NOT NULL,                          -- of the run so far; the next step counts from here
  codec       text COLLATE "C",
  value       bytea,                                     -- null: none
  error       text,                                      -- why the step failed finally, or how the awaited run ended;
                                                         -- null: it succeeded
  until       timestamptz,                               -- the end of a sleep, the time limit of an await
  recorded_at timestamptz NOT NULL,
  reserved    integer,                                   -- of 'each': how many positions; null: of another kind
  PRIMARY KEY (project, run_id, position)
);
-- The statements that end runs look for workflows with steps to undo.
CREATE INDEX workflow_step_undo ON carillon.workflow_step (project, run_id) WHERE kind IN ('undo', 'compensate');

-- A row is a signal that was sent to a workflow. The statement that records the answer to an await sets consumed_by,
-- once.
-- Rows stay until the run has ended, so that a signal that is sent again is found. Maintenance deletes them then.
CREATE TABLE carillon.workflow_signal (
  project     text COLLATE "C" NOT NULL,
  run_id      uuid NOT NULL,
  send_id     text COLLATE "C" NOT NULL,                 -- the id that the sender gave it, or a random one
  id          uuid NOT NULL,                             -- of the call: a repeated call finds its own row
  name        text COLLATE "C" NOT NULL,
  codec       text COLLATE "C" NOT NULL,
  value       bytea NOT NULL,
  consumed_by integer,                                   -- the position of the record; null: no await has taken it
  sent_at     timestamptz NOT NULL DEFAULT carillon.clock(),
  PRIMARY KEY (project, run_id, send_id)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX workflow_signal_pending ON carillon.workflow_signal (project, run_id) WHERE consumed_by IS NULL;

-- A row is a record of a workflow that has ended, with the day of its row in run_history. Retention drops both.
CREATE TABLE carillon.workflow_step_history (
  LIKE carillon.workflow_step INCLUDING CONSTRAINTS,
  day date NOT NULL,                                     -- that of the run in run_history
  PRIMARY KEY (project, run_id, position, day)
) PARTITION BY RANGE (day);

-- A row keeps the unique key of a handler in use after its run has ended, until its time window is over.
CREATE TABLE carillon.unique_key_window (
  project text COLLATE "C" NOT NULL,
  handler text COLLATE "C" NOT NULL,
  key     text COLLATE "C" NOT NULL,
  run_id  uuid NOT NULL,
  until   timestamptz NOT NULL,
  PRIMARY KEY (project, handler, key)
);
CREATE INDEX unique_key_window_until ON carillon.unique_key_window (until);

-- A row has what one process counted in one minute for one handler in one queue, or, with the queue and the handler '',
-- for all of a project: its charts need not read all of them. The counts are absolute: the process
-- writes the row again while they grow, so a repeated write counts nothing twice, and no two processes write the same
-- row. Rows are kept for two days.
CREATE TABLE carillon.stats_minute (
  project         text COLLATE "C" NOT NULL,
  minute          timestamptz NOT NULL,
  queue           text COLLATE "C" NOT NULL,
  target_name     text COLLATE "C" NOT NULL,             -- the handler
  recorder        uuid NOT NULL,                         -- the process, or one since the clock was set back
  version         bigint NOT NULL,                       -- of the write; an older one that commits late changes nothing
  started         integer NOT NULL,                      -- attempts
  succeeded       integer NOT NULL,                      -- runs
  dead            integer NOT NULL,
  cancelled       bigint NOT NULL,
  quarantined     integer NOT NULL,
  skipped         bigint NOT NULL,                       -- planned instants; a gap may have very many
  missed          bigint NOT NULL,
  retried         integer NOT NULL,                      -- attempts that failed and are tried again
  rescued         integer NOT NULL,                      -- runs that were taken from dead nodes
  redriven        integer NOT NULL,                      -- dead runs that were started again
  lateness_micros bigint NOT NULL,                       -- of ticks: from the planned instant to the start; the sum
  lateness        integer[] NOT NULL,                    -- and the number in each bucket, see DurationHistogram
  wait_micros     bigint NOT NULL,                       -- of first attempts: from the due time to the start
  wait            integer[] NOT NULL,
  run_micros      bigint NOT NULL,                       -- of attempts: from the start to the end
  run             integer[] NOT NULL,
  PRIMARY KEY (project, minute, queue, target_name, recorder)
) WITH (fillfactor = 70);
-- The sums of a project, for its charts. Their queue and handler are ''.
CREATE INDEX stats_minute_project ON carillon.stats_minute (project, minute) WHERE queue = '';
-- The minutes of all projects: for the statistics per hour, for removal, and for figures of all projects.
CREATE INDEX stats_minute_minute ON carillon.stats_minute (minute);

-- A row has the counts of one hour for one handler in one queue: the sum of its minutes of all processes. It is
-- computed again from the minutes, not added to. Rows are kept for 90 days.
CREATE TABLE carillon.stats_hour (
  project         text COLLATE "C" NOT NULL,
  hour            timestamptz NOT NULL,
  queue           text COLLATE "C" NOT NULL,
  target_name     text COLLATE "C" NOT NULL,             -- the handler
  started         bigint NOT NULL,                       -- attempts
  succeeded       bigint NOT NULL,                       -- runs
  dead            bigint NOT NULL,
  cancelled       bigint NOT NULL,
  quarantined     bigint NOT NULL,
  skipped         bigint NOT NULL,                       -- planned instants
  missed          bigint NOT NULL,
  retried         bigint NOT NULL,                       -- attempts that failed and are tried again
  rescued         bigint NOT NULL,                       -- runs that were taken from dead nodes
  redriven        bigint NOT NULL,                       -- dead runs that were started again
  lateness_micros bigint NOT NULL,                       -- of ticks: from the planned instant to the start; the sum
  lateness        bigint[] NOT NULL,                     -- and the number in each bucket, see DurationHistogram
  wait_micros     bigint NOT NULL,                       -- of first attempts: from the due time to the start
  wait            bigint[] NOT NULL,
  run_micros      bigint NOT NULL,                       -- of attempts: from the start to the end
  run             bigint[] NOT NULL,
  PRIMARY KEY (project, hour, queue, target_name)
);
CREATE INDEX stats_hour_project ON carillon.stats_hour (project, hour) WHERE queue = '';
CREATE INDEX stats_hour_hour ON carillon.stats_hour (hour);

-- Positions of events in the order of their inserts, see event_snapshot.
CREATE SEQUENCE carillon.event_seq;

-- A row is an event. Rows are only inserted. Each day is a partition, like those of run_history; day is the UTC day of
-- the time in id, so an event is found by its id. xid is the transaction that published it, in the numbering of
-- carillon.event_xid: by it a reader knows which snapshot is the first that contains the event.
CREATE TABLE carillon.event_store (
  project      text COLLATE "C" NOT NULL,
  id           uuid NOT NULL,
  day          date NOT NULL,
  seq          bigint NOT NULL DEFAULT nextval('carillon.event_seq'),
  xid          xid8 NOT NULL,
  topic        text COLLATE "C" NOT NULL,
  type         text COLLATE "C" NOT NULL,
  key          text COLLATE "C",                         -- null: none; events with a key can be delivered in order
  codec        text COLLATE "C" NOT NULL,
  data         bytea NOT NULL,
  headers      text,                                     -- what the publisher added, a JSON object; null: nothing
  version      bigint NOT NULL DEFAULT 0,                -- of the key, see event_key_version; 0: none
  schedule     text COLLATE "C",                         -- the schedule whose tick published it; null: none
  planned_at   timestamptz,                              -- the instant of the tick
  published_at timestamptz NOT NULL DEFAULT carillon.clock()
) PARTITION BY RANGE (day);
CREATE UNIQUE INDEX event_store_id ON carillon.event_store (project, id, day);
-- The dispatcher reads the events of all projects, readers of one topic or key only that. With seq, a page within a
-- transaction of many events begins where the previous page ended.
CREATE INDEX event_store_xid ON carillon.event_store (xid, seq);
CREATE INDEX event_store_topic ON carillon.event_store (project, topic, xid, seq);
CREATE INDEX event_store_key ON carillon.event_store (project, topic, key, xid) WHERE key IS NOT NULL;

-- A row is an id that a publisher gave an event: a publish with the same id stores nothing. The unique key contains the
-- day of the partition, so a publish inserts two rows, for the day before the event and for its day. Then two publishes
-- on the same day or on consecutive days have a row in common, and one of them waits for the other.
CREATE TABLE carillon.event_publish_id (
  project    text COLLATE "C" NOT NULL,
  publish_id text COLLATE "C" NOT NULL,
  day        date NOT NULL,
  event_id   uuid NOT NULL,                              -- the event that was stored
  PRIMARY KEY (project, publish_id, day)
) PARTITION BY RANGE (day);

-- A row is a snapshot of the transactions that had ended at some time. Numbers have no gaps. The position of an event
-- is the first snapshot that contains it, then its seq. Rows are never changed, so all readers see one order, and an
-- event that commits late gets a position behind everything that was read before. Snapshot 0 has no row and contains
-- nothing.
CREATE TABLE carillon.event_snapshot (
  snapshot     bigint PRIMARY KEY,                       -- the number
  transactions pg_snapshot NOT NULL,
  stored_at    timestamptz NOT NULL DEFAULT carillon.clock()
);

-- A row is a period in which transaction numbers of the server only grew. The largest epoch is the current one; the
-- first one has no row and the offset 0. A dump that is restored on another server may meet smaller transaction
-- numbers; then a new epoch begins, whose offset makes them larger than all stored ones.
CREATE TABLE carillon.event_epoch (
  epoch      bigint PRIMARY KEY,
  xid_offset bigint NOT NULL,
  started_at timestamptz NOT NULL DEFAULT carillon.clock()
);

-- A row is the version of a key in a topic whose publishers ask for versions: the number of its events.
CREATE TABLE carillon.event_key_version (
  project text COLLATE "C" NOT NULL,
  topic   text COLLATE "C" NOT NULL,
  key     text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (project, topic, key)
) WITH (fillfactor = 50);

-- Numbers of the cursors of subscriptions.
CREATE SEQUENCE carillon.event_cursor_seq;

-- A row is a subscription. Only users change it. Its place is the row in event_cursor, or else the one in
-- event_dispatch.
CREATE TABLE carillon.event_subscription (
  project       text COLLATE "C" NOT NULL REFERENCES carillon.project,
  name          text COLLATE "C" NOT NULL,
  version       bigint NOT NULL DEFAULT 1,               -- raised by each change
  topic_pattern text COLLATE "C" NOT NULL,               -- a name, or a prefix followed by *
  type_pattern  text COLLATE "C" NOT NULL,               -- the same, separated by commas
  in_order      boolean NOT NULL,                        -- whether events of one key are delivered one after the other
  target_name   text COLLATE "C" NOT NULL,               -- the handler of the runs
  endpoint      text COLLATE "C",                        -- the endpoint that gets the events; null: the handler
  mode          text COLLATE "C",                        -- structured or binary, for an endpoint
  queue         text COLLATE "C" NOT NULL,
  priority      smallint NOT NULL,
  owner         text COLLATE "C" NOT NULL DEFAULT 'api', -- code: declared when a process starts
  skipped       uuid[] NOT NULL DEFAULT '{}',            -- events that get no run
  paused_at     timestamptz,                             -- null: not paused
  paused_by     text,
  paused_reason text,
  created_at    timestamptz NOT NULL DEFAULT carillon.clock(),
  -- The number of its row in event_cursor. Another subscription with this name has another number, so a transaction
  -- that removes and creates a subscription and stays open has no row that a dispatch waits for.
  cursor_number bigint NOT NULL DEFAULT -nextval('carillon.event_cursor_seq'),
  PRIMARY KEY (project, name)
) WITH (fillfactor = 50);
CREATE INDEX event_subscription_topic ON carillon.event_subscription (project, topic_pattern);
CREATE INDEX event_subscription_prefix ON carillon.event_subscription (project) WHERE topic_pattern LIKE '%*';

-- The place of all subscriptions without a row in event_cursor: their events up to it have a run. The one row is
-- written for each batch of new events, however many subscriptions there are. version is raised when a subscription
-- loses its own cursor.
CREATE TABLE carillon.event_dispatch (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  snapshot bigint NOT NULL,
  seq      bigint NOT NULL,
  version  bigint NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
INSERT INTO carillon.event_dispatch (snapshot, seq, version) VALUES (0, 9223372036854775807, 1);

-- A row is the place of a subscription that is not where the others are: it is new, or was paused. Or it is a replay of
-- past events for a subscription. Nodes write it, and it is removed when it has reached the others, or its end. A row
-- without a subscription is of one that was removed meanwhile; it is ignored and removed later.
CREATE TABLE carillon.event_cursor (
  project          text COLLATE "C" NOT NULL,
  name             text COLLATE "C" NOT NULL,
  replay           bigint NOT NULL,                      -- the number of a replay; negative: cursor_number
  snapshot         bigint NOT NULL,                      -- events up to this position have a run
  seq              bigint NOT NULL,
  ends_at_snapshot bigint,                               -- the last snapshot of a replay; null: it has no end
  PRIMARY KEY (project, name, replay)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
CREATE INDEX event_cursor_snapshot ON carillon.event_cursor (snapshot);

-- A row is a relay, which sends the events of a topic to a destination outside of the database, such as Kafka. One node
-- at a time has its lease and sends. It moves the cursor after the destination has accepted the events.
CREATE TABLE carillon.event_relay (
  project         text COLLATE "C" NOT NULL REFERENCES carillon.project,
  name            text COLLATE "C" NOT NULL,
  topic           text COLLATE "C" NOT NULL,
  destination     text COLLATE "C" NOT NULL,             -- for operators, such as kafka:orders
  cursor_snapshot bigint NOT NULL,                       -- events up to this position are sent or held
  cursor_seq      bigint NOT NULL,
  epoch           bigint NOT NULL DEFAULT 0,             -- raised by each change of the owner; guards all writes
  owner           uuid,                                  -- the node that sends; null: none
  leased_until    timestamptz,
  sent            bigint NOT NULL DEFAULT 0,             -- events since the relay was created
  sent_at         timestamptz,
  failing_since   timestamptz,                           -- null: the last attempt to send succeeded
  error           text,
  created_at      timestamptz NOT NULL DEFAULT carillon.clock(),
  PRIMARY KEY (project, name)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- A row is an event that the cursor of a relay has passed and that is not sent: the destination has rejected it, or it
-- waits behind a rejected event of its key.
CREATE TABLE carillon.event_relay_held (
  project  text COLLATE "C" NOT NULL,
  relay    text COLLATE "C" NOT NULL,
  snapshot bigint NOT NULL,
  seq      bigint NOT NULL,
  event    uuid NOT NULL,
  day      date NOT NULL,                                -- of the event, see event_store
  key      text COLLATE "C",
  state    text COLLATE "C" NOT NULL CHECK (state IN ('rejected', 'waiting', 'retry', 'skip')),
  blocks   boolean NOT NULL,                             -- whether later events of the key wait
  reason   text,                                         -- why the destination rejected it
  held_at  timestamptz NOT NULL DEFAULT carillon.clock(),
  PRIMARY KEY (project, relay, snapshot, seq),
  FOREIGN KEY (project, relay) REFERENCES carillon.event_relay ON DELETE CASCADE
);
CREATE INDEX event_relay_held_key ON carillon.event_relay_held (project, relay, key, snapshot, seq) WHERE blocks;
CREATE INDEX event_relay_held_state ON carillon.event_relay_held (project, relay, state, snapshot, seq)
  WHERE state <> 'waiting';

-- A row is how far a source has read one partition of a system outside of the database. It moves in the transaction
-- that publishes the events that were read.
CREATE TABLE carillon.event_source (
  project       text COLLATE "C" NOT NULL REFERENCES carillon.project,
  name          text COLLATE "C" NOT NULL,
  part          text COLLATE "C" NOT NULL,               -- the partition, such as payments-3
  next_position bigint NOT NULL,
  stored_at     timestamptz NOT NULL DEFAULT carillon.clock(),
  blocked_at    timestamptz,                             -- null: not blocked by a record that cannot be published
  reason        text,
  PRIMARY KEY (project, name, part)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);

-- A row is a record that a source could not publish and has passed.
CREATE TABLE carillon.event_source_unpublished (
  project   text COLLATE "C" NOT NULL REFERENCES carillon.project,
  source    text COLLATE "C" NOT NULL,
  part      text COLLATE "C" NOT NULL,
  position  bigint NOT NULL,
  key       bytea,
  value     bytea,
  reason    text NOT NULL,
  found_at  timestamptz NOT NULL DEFAULT carillon.clock(),
  PRIMARY KEY (project, source, part, position)
);
