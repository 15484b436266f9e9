-- min_code: 1
-- When the last thing that held a queue back was lifted: a pause, a limit or a breaker. A tick that waited in the queue at that time is late and not missed,
-- also if its grace ended before the planner looked at it. A trigger, because nodes of earlier versions lift pauses, limits and breakers, too.
ALTER TABLE carillon.lane ADD COLUMN IF NOT EXISTS released_at timestamptz;

CREATE OR REPLACE FUNCTION carillon.set_released_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.released_at := carillon.clock();
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER set_released_at BEFORE UPDATE ON carillon.lane FOR EACH ROW
WHEN ((OLD.paused_at IS NOT NULL OR OLD.breaker <> 'closed' OR OLD.max_running IS NOT NULL OR OLD.rate IS NOT NULL)
      AND NEW.paused_at IS NULL AND NEW.breaker = 'closed' AND NEW.max_running IS NULL AND NEW.rate IS NULL)
EXECUTE FUNCTION carillon.set_released_at();
