-- min_code: 1
-- The whole of version 1's hot tables. Text keys compare bytewise (COLLATE "C"): they are names of [a-z0-9._-], never sorted for people.

-- The one clock. Stable, so that it can bound an index range; the test kit replaces its body in its own database.
CREATE FUNCTION carillon.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT statement_timestamp() $$;

CREATE TABLE carillon.project (
  project    text COLLATE "C" PRIMARY KEY,
  owner      text,
  created_at timestamptz NOT NULL DEFAULT carillon.clock()
);
INSERT INTO carillon.project (project) VALUES ('default');

CREATE TABLE carillon.schedule (
  project        text COLLATE "C" NOT NULL REFERENCES carillon.project,
  id             uuid NOT NULL,
  name           text COLLATE "C" NOT NULL,
  version        bigint NOT NULL DEFAULT 1,             -- raised by every edit; with the cursor it guards every planning write
  -- when
  kind           text COLLATE "C" NOT NULL CHECK (kind IN ('cron', 'interval', 'once')),
  expression     text NOT NULL,                         -- the cron text, '15 minutes', or '' for once
  zone           text NOT NULL,
  anchor         timestamptz,                           -- an interval's start, or the instant of once
  gap            text NOT NULL,
  repeat         text NOT NULL,
  starts_at      timestamptz,
  ends_at        timestamptz,
  excluded       date[] NOT NULL DEFAULT '{}',
  jitter         interval NOT NULL DEFAULT '0',
  max_runs       bigint,
  -- what
  queue          text COLLATE "C" NOT NULL,
  class          smallint NOT NULL,
  target         text COLLATE "C" NOT NULL,
  target_name    text COLLATE "C" NOT NULL,
  payload        bytea NOT NULL,
  codec          text COLLATE "C" NOT NULL,
  policy         jsonb,                                 -- retry and timeout where the schedule sets its own
  -- policies
  missed         text COLLATE "C" NOT NULL,
  missed_cap     integer NOT NULL,
  missed_spread  interval NOT NULL,
  grace          interval NOT NULL,
  catch_up       interval NOT NULL,
  overlap        text COLLATE "C" NOT NULL,
  pause_after    integer,                               -- consecutive failures after which it pauses itself
  adaptive_min   interval,
  adaptive_max   interval,
  -- state
  cursor         timestamptz NOT NULL,                  -- every instant up to here is accounted for: a tick, or an entry that says why not
  next_at        timestamptz NOT NULL,                  -- the first instant after the cursor; infinity: none
  ticks          bigint NOT NULL DEFAULT 0,
  failed_in_row  integer NOT NULL DEFAULT 0,
  tzdata         text NOT NULL,                         -- the time zone rules that planned
  paused_at      timestamptz,
  paused_by      text,
  paused_reason  text,
  paused_until   timestamptz,
  created_at     timestamptz NOT NULL DEFAULT carillon.clock(),
  updated_at     timestamptz NOT NULL DEFAULT carillon.clock(),
  PRIMARY KEY (project, id),
  UNIQUE (project, name)
) WITH (fillfactor = 80);
-- The planner's only way in: due soon and not paused.
CREATE INDEX schedule_next ON carillon.schedule (next_at) WHERE paused_at IS NULL;
CREATE INDEX schedule_paused_until ON carillon.schedule (paused_until) WHERE paused_until IS NOT NULL;

-- Waiting and running only; what ended is in run_history. The claim writes owner, attempt, leased_until and started_at; none of them stands in
-- an index (leased_until only where a lease over HTTP or a tick sets it), and more than half of each page is free, because the claim makes a row
-- longer: it stays a HOT update. (At 50 one claim in twenty did not find room on its page.)
CREATE TABLE carillon.run (
  project      text COLLATE "C" NOT NULL,
  id           uuid NOT NULL,
  queue        text COLLATE "C" NOT NULL,
  class        smallint NOT NULL,
  suspect      smallint NOT NULL DEFAULT 0,             -- how often its node died while it was held
  crashes      smallint NOT NULL DEFAULT 0,             -- how often a node died while it ran alone
  attempt      integer NOT NULL DEFAULT 0,              -- grows with each claim; with the owner it is the fence
  failures     integer NOT NULL DEFAULT 0,
  due_at       timestamptz NOT NULL,
  ready_at     timestamptz NOT NULL,                    -- the claim key: due_at, or infinity while parked
  start_by     timestamptz NOT NULL DEFAULT 'infinity', -- a tick not started by then belongs to the planner
  started_at   timestamptz,                             -- when the current attempt was claimed
  owner        uuid,
  leased_until timestamptz,                             -- null: the lease lives as long as the owning node
  planned_at   timestamptz,
  day          date NOT NULL,                           -- where its history goes: UTC day of the planned instant, else of the due time
  schedule_id  uuid,
  parent_id    uuid,
  seq          bigint,
  created_at   timestamptz NOT NULL DEFAULT carillon.clock(),
  origin       text COLLATE "C" NOT NULL,
  target       text COLLATE "C" NOT NULL,
  target_name  text COLLATE "C" NOT NULL,
  codec        text COLLATE "C" NOT NULL,
  payload      bytea NOT NULL,
  key          text COLLATE "C",
  gate_key     text COLLATE "C",
  parked       text COLLATE "C",                        -- why it cannot be claimed now: running, suspect, no-handler, gate
  trace        text,
  policy       jsonb,
  PRIMARY KEY (project, id)
) WITH (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
        autovacuum_analyze_scale_factor = 0.2, autovacuum_vacuum_cost_delay = 1, autovacuum_vacuum_insert_scale_factor = 0.5,
        vacuum_truncate = false);
CREATE INDEX run_lane ON carillon.run (queue, project, class, ready_at);
-- Partial, so that nothing but a look over all lanes can use it: while the table counts as empty, a claim from one lane would find it as good as
-- the one above.
CREATE INDEX run_ready ON carillon.run (ready_at) WHERE ready_at < 'infinity';
CREATE UNIQUE INDEX run_instant ON carillon.run (schedule_id, planned_at) WHERE origin IN ('tick', 'backfill');
CREATE UNIQUE INDEX run_key ON carillon.run (project, queue, key) WHERE key IS NOT NULL;
CREATE INDEX run_leased ON carillon.run (leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX run_parked ON carillon.run (parked, target_name, due_at) WHERE parked IS NOT NULL;
-- Late ticks are found without wading through a backlog; once a run was claimed and let go its start_by is infinity.
CREATE INDEX run_start_by ON carillon.run (start_by) WHERE start_by < 'infinity';

-- A queue is empty most of the time, and statements prepared then are planned for a table without pages: by scans. Those plans live on while a
-- million rows come in, until somebody analyzes (the look at the head took 300 ms instead of 1 ms, and groups of endings ran into their time
-- limit). So the file is never small: 300 pages of free space, which vacuum does not give back. A restore or a rewrite of the table does; hence
-- a function, which nodes call when they start and now and then.
CREATE FUNCTION carillon.keep_room() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF pg_relation_size('carillon.run') >= 300 * current_setting('block_size')::int THEN RETURN false; END IF;
  INSERT INTO carillon.run (project, id, queue, class, due_at, ready_at, day, origin, target, target_name, codec, payload)
  SELECT '', md5(page::text)::uuid, '', 0, 'infinity', 'infinity', 'infinity', '', '', '', '',
         (SELECT string_agg(decode(md5(page || '.' || part), 'hex'), '') FROM generate_series(1, 115) part)
    FROM generate_series(1, 600) page
      ON CONFLICT DO NOTHING;
  DELETE FROM carillon.run WHERE project = '';
  RETURN true;
END $$;
SELECT carillon.keep_room();

-- Append-only, one partition a day, none by default: a missing one is created and the statement repeated.
CREATE TABLE carillon.run_history (
  project     text COLLATE "C" NOT NULL,
  id          uuid NOT NULL,
  day         date NOT NULL,
  queue       text COLLATE "C" NOT NULL,
  class       smallint NOT NULL,
  suspect     smallint NOT NULL,
  crashes     smallint NOT NULL,
  attempt     integer NOT NULL,
  failures    integer NOT NULL,
  due_at      timestamptz NOT NULL,
  planned_at  timestamptz,
  started_at  timestamptz,
  ended_at    timestamptz NOT NULL,
  created_at  timestamptz NOT NULL,
  schedule_id uuid,
  parent_id   uuid,
  owner       uuid,
  state       text COLLATE "C" NOT NULL CHECK (state IN ('succeeded', 'dead', 'cancelled', 'quarantined', 'skipped', 'missed')),
  origin      text COLLATE "C" NOT NULL,
  target      text COLLATE "C" NOT NULL,
  target_name text COLLATE "C" NOT NULL,
  key         text COLLATE "C",
  reason      text,                                     -- an error, or why it was skipped, missed or cancelled
  codec       text COLLATE "C",                         -- of result and payload
  result      bytea,
  payload     bytea,                                    -- kept only where the queue asks for it
  log         text,
  trace       text
) PARTITION BY RANGE (day);
CREATE INDEX run_history_id ON carillon.run_history (id);
-- The second wall of "exactly one run for each instant".
CREATE UNIQUE INDEX run_history_instant ON carillon.run_history (schedule_id, planned_at, day) WHERE origin IN ('tick', 'backfill');
CREATE INDEX run_history_ended ON carillon.run_history USING brin (ended_at);

-- Attempts that did not end their run.
CREATE TABLE carillon.attempt (
  project    text COLLATE "C" NOT NULL,
  run_id     uuid NOT NULL,
  attempt    integer NOT NULL,
  day        date NOT NULL,
  owner      uuid NOT NULL,
  started_at timestamptz,
  ended_at   timestamptz NOT NULL,
  outcome    text COLLATE "C" NOT NULL CHECK (outcome IN ('failed', 'timed-out', 'snoozed', 'crashed')),
  error      text,
  pause      interval,
  log        text,
  PRIMARY KEY (project, run_id, attempt, day)
) PARTITION BY RANGE (day);

-- What stretches of instants became that got no run: one row for a whole stretch.
CREATE TABLE carillon.ledger_gap (
  project     text COLLATE "C" NOT NULL,
  schedule_id uuid NOT NULL,
  from_at     timestamptz NOT NULL,                     -- first and last instant of the stretch, both inclusive
  to_at       timestamptz NOT NULL,
  day         date NOT NULL,                            -- UTC day of to_at
  count       bigint NOT NULL CHECK (count > 0),
  state       text COLLATE "C" NOT NULL CHECK (state IN ('skipped', 'missed', 'cancelled')),
  reason      text NOT NULL,
  version     bigint NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT carillon.clock()
) PARTITION BY RANGE (day);
CREATE UNIQUE INDEX ledger_gap_stretch ON carillon.ledger_gap (schedule_id, from_at, day);

-- Dead and quarantined runs with their payload, until redriven or purged.
CREATE TABLE carillon.dead_run (
  project     text COLLATE "C" NOT NULL,
  id          uuid NOT NULL,
  state       text COLLATE "C" NOT NULL CHECK (state IN ('dead', 'quarantined')),
  queue       text COLLATE "C" NOT NULL,
  class       smallint NOT NULL,
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
  trace       text,
  policy      jsonb,
  error       text,
  died_at     timestamptz NOT NULL,
  PRIMARY KEY (project, id)
);
CREATE INDEX dead_run_died ON carillon.dead_run (died_at);

-- Limits and orders by key, and limits of a lane.
CREATE TABLE carillon.gate (
  project     text COLLATE "C" NOT NULL,
  kind        text COLLATE "C" NOT NULL CHECK (kind IN ('concurrency', 'fifo', 'overlap', 'lane')),
  key         text COLLATE "C" NOT NULL,
  max_live    integer,
  live        integer NOT NULL DEFAULT 0,
  seq         bigint NOT NULL DEFAULT 0,
  rate        double precision,
  tokens      double precision,
  refilled_at timestamptz,
  PRIMARY KEY (project, kind, key)
) WITH (fillfactor = 50);

-- Only lanes that somebody paused, limited or weighed have a row.
CREATE TABLE carillon.lane (
  queue         text COLLATE "C" NOT NULL,
  project       text COLLATE "C" NOT NULL,
  weight        integer NOT NULL DEFAULT 1,
  paused_at     timestamptz,
  paused_by     text,
  paused_reason text,
  max_running   integer,
  rate          double precision,
  keeps_payload boolean NOT NULL DEFAULT false,
  breaker       text COLLATE "C" NOT NULL DEFAULT 'closed' CHECK (breaker IN ('closed', 'open', 'half-open')),
  breaker_until timestamptz,
  PRIMARY KEY (queue, project)
);

CREATE TABLE carillon.token (
  name       text COLLATE "C" PRIMARY KEY,
  owner      uuid NOT NULL,
  epoch      bigint NOT NULL,
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- One row for each incarnation. A beat touches no index.
CREATE TABLE carillon.node (
  id         uuid PRIMARY KEY,
  name       text NOT NULL,
  host       text NOT NULL,
  pid        bigint NOT NULL,
  version    text NOT NULL,
  code       integer NOT NULL,
  handlers   text[] NOT NULL,
  slots      integer NOT NULL,
  busy       integer NOT NULL DEFAULT 0,
  wakeup     text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT carillon.clock(),
  beat       bigint NOT NULL DEFAULT 0,
  beat_at    timestamptz NOT NULL DEFAULT carillon.clock(), -- for people; death is judged by watching the beat
  dead_at    timestamptz,
  dead_why   text,
  swept_at   timestamptz
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);

CREATE TABLE carillon.cancel_request (
  project      text COLLATE "C" NOT NULL,
  run_id       uuid NOT NULL,
  reason       text NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT carillon.clock(),
  PRIMARY KEY (project, run_id)
);

-- How far long runs have come; written with the heartbeat, removed with the run.
CREATE TABLE carillon.progress (
  project text COLLATE "C" NOT NULL,
  run_id  uuid NOT NULL,
  done    bigint NOT NULL,
  total   bigint NOT NULL,
  at      timestamptz NOT NULL,
  PRIMARY KEY (project, run_id)
) WITH (fillfactor = 50);

-- Uniqueness keys that outlive their run.
CREATE TABLE carillon.key_hold (
  project text COLLATE "C" NOT NULL,
  queue   text COLLATE "C" NOT NULL,
  key     text COLLATE "C" NOT NULL,
  run_id  uuid NOT NULL,
  until   timestamptz NOT NULL,
  PRIMARY KEY (project, queue, key)
);
CREATE INDEX key_hold_until ON carillon.key_hold (until);
