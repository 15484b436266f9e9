-- min_code: 1
-- Rate keys: of the runs behind such a gate at most so many start in any stretch of time.
ALTER TABLE carillon.gate
  ADD COLUMN starts timestamptz[],     -- when runs of the key started, one stretch back; live: passed and not seen to have started
  ADD COLUMN driver uuid,              -- who looks when the next may start; whoever has not for a while (refilled_at) is none any more
  DROP CONSTRAINT gate_kind_check,
  ADD CONSTRAINT gate_kind_check CHECK (kind IN ('concurrency', 'fifo', 'overlap', 'lane', 'rate'));
