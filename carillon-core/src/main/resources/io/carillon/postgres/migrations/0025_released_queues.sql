-- min_code: 1
-- Since when a queue is held back by a pause, a limit or a breaker, and when the last of them was lifted. A tick whose grace ended in that time is late and not
-- missed, also if the planner looks at it afterwards. A trigger, because several
-- statements set and lift pauses, limits and breakers.
ALTER TABLE carillon.lane ADD COLUMN IF NOT EXISTS held_since timestamptz;
ALTER TABLE carillon.lane ADD COLUMN IF NOT EXISTS released_at timestamptz;

CREATE OR REPLACE FUNCTION carillon.keep_hold_times() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_held boolean := NEW.paused_at IS NOT NULL OR NEW.breaker <> 'closed' OR NEW.max_running IS NOT NULL OR NEW.rate IS NOT NULL;
BEGIN
  IF v_held AND (NEW.held_since IS NULL OR NEW.released_at IS NOT NULL) THEN
    NEW.held_since := carillon.clock();
    NEW.released_at := NULL;
  ELSIF NOT v_held AND NEW.held_since IS NOT NULL AND NEW.released_at IS NULL THEN
    NEW.released_at := carillon.clock();
  END IF;
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER keep_hold_times BEFORE INSERT OR UPDATE ON carillon.lane FOR EACH ROW EXECUTE FUNCTION carillon.keep_hold_times();

-- Those that are held back already.
UPDATE carillon.lane SET held_since = '-infinity'
 WHERE held_since IS NULL AND (paused_at IS NOT NULL OR breaker <> 'closed' OR max_running IS NOT NULL OR rate IS NOT NULL);
