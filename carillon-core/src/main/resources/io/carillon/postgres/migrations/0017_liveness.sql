-- min_code: 1
-- The heartbeat and the progress of attempts.

-- Which attempt reported it. Rows of older code have none.
ALTER TABLE carillon.progress ADD COLUMN attempt int;

-- Statements inside functions are planned with their own costs, and PostgreSQL would compile those that pass jit_above_cost beside many rows.
ALTER FUNCTION carillon.keep_room() SET jit = off;
ALTER FUNCTION carillon.head(timestamptz, int, int) SET jit = off;
