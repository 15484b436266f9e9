-- min_code: 1
-- What travels with each run of a schedule, packed by whoever saved it; null for most.
ALTER TABLE carillon.schedule ADD COLUMN trace text;
