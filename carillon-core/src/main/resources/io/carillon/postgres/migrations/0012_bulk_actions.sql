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
