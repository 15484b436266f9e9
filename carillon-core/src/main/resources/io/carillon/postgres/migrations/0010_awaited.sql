-- min_code: 1
-- Attempts that are open for somebody outside. Their run is parked as 'awaiting' and leased up to a time; what is said here holds for that attempt only.
CREATE TABLE carillon.awaited (
  project text COLLATE "C" NOT NULL,
  run_id  uuid NOT NULL,
  attempt integer NOT NULL,
  owner   uuid NOT NULL,               -- the node that handed it over; the run itself is owned by nobody's id until it ends
  digest  text COLLATE "C" NOT NULL,   -- SHA-256 of the token
  pause   double precision,            -- before the next attempt, should this one fail; null: then the run is dead
  log     text,
  PRIMARY KEY (project, run_id)
);
