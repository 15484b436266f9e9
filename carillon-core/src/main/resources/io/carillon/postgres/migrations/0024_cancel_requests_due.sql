-- min_code: 1
-- Whether a sweep has something to do about requests to cancel: a run that was let go has one, because the node that let it go was interrupted before it
-- ended the run; or there are more than 500 requests, and some whose run has ended. Each heartbeat asks; nearly always there is no request at all. Of more than
-- 500 it looks at those of eight pages in a row, from anywhere, about as many: so it costs the same however many there are. A function, because its plan must
-- not depend on statistics, as in carillon.cancel_requests_of.
CREATE FUNCTION carillon.cancel_requests_due() RETURNS boolean LANGUAGE plpgsql COST 1
SET jit = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE v_projects text[]; v_ids uuid[]; v_many boolean; v_first bigint; v_low tid; v_high tid;
BEGIN
  SELECT array_agg(c.project), array_agg(c.run_id) INTO v_projects, v_ids
    FROM (SELECT q.project, q.run_id FROM carillon.cancel_request q ORDER BY q.project, q.run_id LIMIT 501) c;
  IF v_ids IS NULL THEN RETURN false; END IF;
  v_many := cardinality(v_ids) > 500;
  IF v_many THEN
    v_first := floor(random() * greatest(1, pg_relation_size('carillon.cancel_request') / current_setting('block_size')::int - 7));
    v_low := format('(%s,0)', v_first);
    v_high := format('(%s,0)', v_first + 8);
    SELECT array_agg(c.project), array_agg(c.run_id) INTO v_projects, v_ids
      FROM carillon.cancel_request c WHERE c.ctid >= v_low AND c.ctid < v_high;
  END IF;
  RETURN EXISTS (SELECT 1 FROM unnest(v_projects, v_ids) AS c(project, run_id)
                         LEFT JOIN LATERAL (SELECT r.owner IS NULL OR coalesce(r.parked = 'awaiting', false) AS waits FROM carillon.run r
                                             WHERE r.project = c.project AND r.id BETWEEN c.run_id AND c.run_id
                                             ORDER BY r.id LIMIT 1) found ON true
                  WHERE coalesce(found.waits, v_many));
END $$;
