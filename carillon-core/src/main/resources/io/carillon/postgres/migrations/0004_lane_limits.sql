-- min_code: 1
-- Runs that count towards the limit of their lane. Null for all others, and the claim of lanes without a limit does not write it.
ALTER TABLE carillon.run ADD COLUMN limited_by text COLLATE "C"; -- the queue under whose limit it was claimed, until it is let go or has ended
