-- min_code: 1
-- transaction: off
-- Who is through a gate, and who is next. Runs without a gate are in neither index, and the claim writes none of these columns.
DROP INDEX CONCURRENTLY IF EXISTS carillon.run_gate;
CREATE INDEX CONCURRENTLY run_gate ON carillon.run (project, gate_key, seq) WHERE gate_key IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS carillon.run_gate_at;
CREATE INDEX CONCURRENTLY run_gate_at ON carillon.run (gate_at) WHERE gate_at IS NOT NULL;
