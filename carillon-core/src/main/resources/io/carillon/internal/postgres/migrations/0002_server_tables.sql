-- min_code: 1
-- The tables that only the server uses, with their indexes.

-- A row is an API key. Only the hash of its secret is stored: a reader of this table cannot make requests with it.
CREATE TABLE carillon.api_key (
  project    text COLLATE "C" NOT NULL REFERENCES carillon.project,
  id         text COLLATE "C" NOT NULL,
  hash       bytea NOT NULL,
  name       text NOT NULL,
  scopes     text[] NOT NULL,
  bootstrap  boolean NOT NULL DEFAULT false,             -- true: the first key, made when the server started
  created_at timestamptz NOT NULL DEFAULT carillon.clock(),
  created_by text NOT NULL,
  expires_at timestamptz,                                -- null: never
  replaced_at timestamptz,                               -- the end of the overlap after a rotation; null: not rotated
  revoked_at timestamptz,                                -- null: not revoked
  used_at    timestamptz,                                -- written at most once per minute; null: never used
  addresses  text[] NOT NULL DEFAULT '{}',               -- ranges that it may be used from; empty: everywhere
  queues     text[] NOT NULL DEFAULT '{}',               -- names or prefixes with *; empty: all
  handlers   text[] NOT NULL DEFAULT '{}',               -- names or prefixes with *; empty: all
  endpoints  text[] NOT NULL DEFAULT '{}',               -- names or prefixes with *; empty: not restricted to any
  PRIMARY KEY (project, id),
  UNIQUE (id)
);

-- A row is a person who has logged in with the identity provider, or whom an admin has added. The provider identifies a
-- person by issuer and subject; name and email are what it said at the last login, and are shown only.
CREATE TABLE carillon.app_user (
  id         uuid PRIMARY KEY,
  issuer     text COLLATE "C" NOT NULL,
  subject    text COLLATE "C" NOT NULL,
  name       text,                                       -- null: the provider did not say it
  email      text,                                       -- null: the provider did not say it
  created_at timestamptz NOT NULL DEFAULT carillon.clock(),
  login_at   timestamptz,                                -- the last login; null: none yet
  UNIQUE (issuer, subject)
);
CREATE INDEX app_user_without_login ON carillon.app_user (id) WHERE login_at IS NULL;
ALTER TABLE carillon.project ADD FOREIGN KEY (owner) REFERENCES carillon.app_user;
CREATE INDEX project_owner ON carillon.project (owner) WHERE owner IS NOT NULL;

-- A row is the role of a user in a project.
CREATE TABLE carillon.project_member (
  project    text COLLATE "C" NOT NULL REFERENCES carillon.project,
  user_id    uuid NOT NULL REFERENCES carillon.app_user,
  role       text COLLATE "C" NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
  created_at timestamptz NOT NULL DEFAULT carillon.clock(),
  created_by text NOT NULL,
  used_at    timestamptz,                                -- the first use of the project by the user; null: none yet
  PRIMARY KEY (project, user_id)
);
CREATE INDEX project_member_user ON carillon.project_member (user_id, project);

-- A row is a session of a user in a browser. Only the hash of its token is stored. Logout deletes the row.
CREATE TABLE carillon.user_session (
  id         uuid PRIMARY KEY,
  user_id    uuid NOT NULL REFERENCES carillon.app_user ON DELETE CASCADE,
  hash       bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT carillon.clock(),
  used_at    timestamptz NOT NULL DEFAULT carillon.clock(), -- written at most once per minute
  expires_at timestamptz NOT NULL,
  address    text NOT NULL,                              -- of the client at the login
  browser    text NOT NULL                               -- its header User-Agent
);
CREATE INDEX user_session_user ON carillon.user_session (user_id, created_at);
CREATE INDEX user_session_expires ON carillon.user_session (expires_at);

-- A row is a change that a caller made. Rows are only inserted, in the transaction of the change.
CREATE TABLE carillon.audit (
  project    text COLLATE "C" NOT NULL,
  id         uuid NOT NULL,
  at         timestamptz NOT NULL DEFAULT carillon.clock(),
  actor      text NOT NULL,
  action     text COLLATE "C" NOT NULL,
  object     text NOT NULL,
  detail     jsonb NOT NULL DEFAULT '{}',
  request_id text NOT NULL,
  PRIMARY KEY (project, id)
);

-- A row is the response to a request with an Idempotency-Key. It is written in the transaction of the request and
-- kept for one day.
CREATE TABLE carillon.idempotency (
  project      text COLLATE "C" NOT NULL,
  key          text COLLATE "C" NOT NULL,
  request_hash bytea NOT NULL,
  status       integer,                                  -- null: the request has not been answered yet
  headers      jsonb,
  body         bytea,
  created_at   timestamptz NOT NULL DEFAULT carillon.clock(),
  PRIMARY KEY (project, key)
);
CREATE INDEX idempotency_created ON carillon.idempotency (created_at);

-- A row is a secret that all servers share, for example to sign.
CREATE TABLE carillon.server_secret (
  name  text COLLATE "C" PRIMARY KEY,
  value bytea NOT NULL
);

-- A row is an action on many runs. A server applies it in batches; each batch is one transaction that also updates
-- done and the position. The server that holds the lock on the row works on it. If that server dies, another one
-- continues. An action visits the runs that exist when it is created once, in the order of their ids.
CREATE TABLE carillon.bulk_action (
  project    text COLLATE "C" NOT NULL REFERENCES carillon.project,
  id         uuid NOT NULL,
  action     text COLLATE "C" NOT NULL,
  run_state  text COLLATE "C" NOT NULL,                  -- the filter: state, queue and handler
  queue      text COLLATE "C",                           -- null: all queues
  handler    text COLLATE "C",                           -- null: all handlers
  due_at     timestamptz,                                -- the new due time; null: the action sets none
  state      text COLLATE "C" NOT NULL DEFAULT 'running',
  reason     text,                                       -- why it failed; null: it did not fail
  done       bigint NOT NULL DEFAULT 0,
  after_id   uuid NOT NULL,                              -- runs up to this id were visited
  last_id    uuid NOT NULL,                              -- the largest id of a run when the action was created
  locked_ids uuid[] NOT NULL DEFAULT '{}',               -- visited runs that were locked; they are changed last
  actor      text NOT NULL,
  request_id text NOT NULL,
  created_at timestamptz NOT NULL,                       -- runs that were created later are not changed
  worked_at  timestamptz NOT NULL DEFAULT carillon.clock(), -- the last batch; the longest waiting action is next
  ended_at   timestamptz,                                -- null: it has not ended
  PRIMARY KEY (project, id)
);
CREATE INDEX bulk_action_running ON carillon.bulk_action (project, worked_at) WHERE state = 'running';
CREATE INDEX bulk_action_ended ON carillon.bulk_action (ended_at) WHERE ended_at IS NOT NULL;

-- A row is an endpoint: a URL that webhooks of a project call by its name, and how to call it. Runs read it at each
-- attempt.
CREATE TABLE carillon.endpoint (
  project         text COLLATE "C" NOT NULL REFERENCES carillon.project,
  name            text COLLATE "C" NOT NULL,
  version         bigint NOT NULL DEFAULT 1,             -- raised by each change
  url             text NOT NULL,
  method          text COLLATE "C" NOT NULL,
  headers         jsonb NOT NULL DEFAULT '{}',
  total_timeout   interval NOT NULL,
  connect_timeout interval NOT NULL,
  success         integer[] NOT NULL DEFAULT '{}',       -- status codes that mean success; empty: 200 to 299
  callback        interval,                              -- null: 202 has no special meaning
  retry           text,                                  -- of its runs; null: that of the webhook handler
  created_at      timestamptz NOT NULL DEFAULT carillon.clock(),
  created_by      text NOT NULL,
  updated_at      timestamptz NOT NULL DEFAULT carillon.clock(),
  PRIMARY KEY (project, name)
);

-- A row is a secret of an endpoint. It is encrypted with the master keys of the servers for this endpoint and the
-- origin of its URL: a reader of this table cannot use it, and no server sends it to another origin.
CREATE TABLE carillon.endpoint_secret (
  project        text COLLATE "C" NOT NULL,
  endpoint       text COLLATE "C" NOT NULL,
  name           text COLLATE "C" NOT NULL,
  header         text COLLATE "C",                       -- the header whose value it is; null: it signs requests
  sealed         text NOT NULL,
  public_key     text,                                   -- of a secret that signs with Ed25519; null: another kind
  previous       text,                                   -- the secret before the last rotation; null: none
  previous_until timestamptz,                            -- until then, requests are also signed with previous
  created_at     timestamptz NOT NULL DEFAULT carillon.clock(),
  created_by     text NOT NULL,
  rotated_at     timestamptz,                            -- null: never rotated
  PRIMARY KEY (project, endpoint, name),
  UNIQUE (project, endpoint, header) DEFERRABLE INITIALLY DEFERRED,
  FOREIGN KEY (project, endpoint) REFERENCES carillon.endpoint ON DELETE CASCADE
);
