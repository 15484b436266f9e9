-- min_code: 1
-- A tick that never started has a start_by before infinity: the end of its grace, or of its catch-up window once it may start late. This column says that
-- the missed policy lets it start late, so that it counts to those that may wait. Null for all others.
ALTER TABLE carillon.run ADD COLUMN runs_late boolean;
