-- min_code: 1
-- What nodes saw of their lanes in the last minute, and how often in a row a breaker opened.
ALTER TABLE carillon.lane ADD COLUMN breaker_step integer NOT NULL DEFAULT 0;
CREATE TABLE carillon.node_load (
  queue   text COLLATE "C" NOT NULL,
  project text COLLATE "C" NOT NULL,
  node    uuid NOT NULL,
  well    integer NOT NULL,            -- attempts of the last minute that went well, and that failed
  failed  integer NOT NULL,
  at      timestamptz NOT NULL,
  PRIMARY KEY (queue, project, node)
) WITH (fillfactor = 50);
