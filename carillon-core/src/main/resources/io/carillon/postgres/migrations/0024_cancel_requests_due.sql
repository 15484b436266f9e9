-- min_code: 1
-- Whether a run that was let go has a request to cancel it: whoever let it go should have ended it, and was interrupted. Each heartbeat asks; nearly always
-- there is no request at all. A function, because its plan must not depend on statistics, as in carillon.cancel_requests_of.
CREATE FUNCTION carillon.cancel_requests_due() RETURNS boolean LANGUAGE plpgsql COST 1
SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM carillon.cancel_request) THEN RETURN false; END IF;
  RETURN EXISTS (SELECT 1 FROM carillon.cancel_request c,
                        LATERAL (SELECT 1 FROM carillon.run r
                                  WHERE r.project = c.project AND r.id BETWEEN c.run_id AND c.run_id AND (r.owner IS NULL OR r.parked = 'awaiting')
                                  ORDER BY r.id LIMIT 1) waiting);
END $$;
