-- min_code: 1
-- Functions that publish and dispatch events.
--
-- Between two statements other transactions commit, so each decision about what a snapshot contains is made in the
-- statement that takes it.

-- Returns the number of the current transaction for the column xid of the events that it publishes, or null if a new
-- epoch must begin first. The current transaction is in progress, so no snapshot of this server can contain it. If the
-- last snapshot does contain its number, the snapshot came from another server.
CREATE FUNCTION carillon.event_xid() RETURNS xid8 LANGUAGE plpgsql STABLE SET jit = off AS $$
DECLARE
  v_offset bigint;
  v_last pg_snapshot;
  v_xid xid8;
BEGIN
  SELECT e.xid_offset INTO v_offset FROM carillon.event_epoch e ORDER BY e.epoch DESC LIMIT 1;
  SELECT t.transactions INTO v_last FROM carillon.event_snapshot t ORDER BY t.snapshot DESC LIMIT 1;
  v_xid := pg_current_xact_id();
  IF v_offset <> 0 THEN v_xid := ((v_xid::text::bigint + v_offset)::text)::xid8; END IF;
  IF pg_visible_in_snapshot(v_xid, v_last) THEN RETURN NULL; END IF;
  RETURN v_xid;
END $$;

-- Returns the snapshot of the calling statement in the numbering of carillon.event_xid.
CREATE FUNCTION carillon.current_event_snapshot() RETURNS pg_snapshot LANGUAGE plpgsql STABLE SET jit = off AS $$
DECLARE
  v_offset bigint;
  v_now pg_snapshot := pg_current_snapshot();
BEGIN
  SELECT e.xid_offset INTO v_offset FROM carillon.event_epoch e ORDER BY e.epoch DESC LIMIT 1;
  IF coalesce(v_offset, 0) = 0 THEN RETURN v_now; END IF;
  RETURN (pg_snapshot_xmin(v_now)::text::bigint + v_offset || ':' || pg_snapshot_xmax(v_now)::text::bigint + v_offset
          || ':' || coalesce((SELECT string_agg((x::text::bigint + v_offset)::text, ',' ORDER BY x)
                                FROM pg_snapshot_xip(v_now) x), ''))::pg_snapshot;
END $$;

-- Begins a new epoch if the transaction numbers of the server are behind those of the stored events. It waits until no
-- transaction that has published is open, because those have used the numbering of the previous epoch.
CREATE FUNCTION carillon.begin_event_epoch() RETURNS void LANGUAGE plpgsql SET jit = off AS $$
DECLARE
  v_now pg_snapshot;
  v_largest bigint;
BEGIN
  LOCK TABLE carillon.event_store IN SHARE ROW EXCLUSIVE MODE;
  SELECT carillon.current_event_snapshot(),
         greatest((SELECT e.xid::text::bigint + 1 FROM carillon.event_store e ORDER BY e.xid DESC LIMIT 1),
                  (SELECT pg_snapshot_xmax(t.transactions)::text::bigint FROM carillon.event_snapshot t
                    ORDER BY t.snapshot DESC LIMIT 1))
    INTO v_now, v_largest;
  IF pg_snapshot_xmax(v_now)::text::bigint >= v_largest THEN RETURN; END IF;
  INSERT INTO carillon.event_epoch (epoch, xid_offset)
  SELECT coalesce(max(e.epoch), 1) + 1, v_largest - pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    FROM carillon.event_epoch e;
END $$;

-- Stores a snapshot if there are events that the last one does not contain, and returns the number of the last one. Two
-- nodes that try to store the same number took their snapshots after the previous one was stored; one of them wins.
CREATE FUNCTION carillon.store_event_snapshot() RETURNS bigint LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_snapshot bigint;
  v_now pg_snapshot;
  v_new boolean;
  v_restored boolean;
BEGIN
  SELECT l.snapshot, n.transactions,
         EXISTS (SELECT 1 FROM carillon.event_store e WHERE e.xid >= pg_snapshot_xmax(l.transactions))
           OR EXISTS (SELECT 1 FROM pg_snapshot_xip(l.transactions) x JOIN carillon.event_store e ON e.xid = x),
         pg_snapshot_xmax(n.transactions) < pg_snapshot_xmax(l.transactions)
           OR EXISTS (SELECT 1 FROM carillon.event_store e WHERE e.xid >= pg_snapshot_xmax(n.transactions))
    INTO v_snapshot, v_now, v_new, v_restored
    FROM (SELECT coalesce(max(t.snapshot), 0) AS snapshot,
                 coalesce(max(t.transactions::text), '3:3:')::pg_snapshot AS transactions
            FROM (SELECT * FROM carillon.event_snapshot ORDER BY snapshot DESC LIMIT 1) t) l,
         (SELECT carillon.current_event_snapshot() AS transactions OFFSET 0) n;
  IF v_restored THEN
    PERFORM carillon.begin_event_epoch();
    RETURN v_snapshot;
  END IF;
  IF NOT v_new THEN RETURN v_snapshot; END IF;
  INSERT INTO carillon.event_snapshot (snapshot, transactions) VALUES (v_snapshot + 1, v_now) ON CONFLICT DO NOTHING;
  RETURN v_snapshot + 1;
END $$;

-- Returns the transactions with events, of a topic or of all, that began between two snapshots or were open in the
-- first one. Returns null if there are few events, for which one index scan is cheaper, or many transactions.
CREATE FUNCTION carillon.large_event_xids(p_base pg_snapshot, p_last pg_snapshot, p_project text, p_topic text)
RETURNS xid8[] LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_from xid8 := pg_snapshot_xmax(p_base);
  v_to xid8 := pg_snapshot_xmax(p_last);
  v_xids xid8[];
BEGIN
  IF p_topic IS NULL THEN
    IF (SELECT count(*)
          FROM (SELECT 1 FROM carillon.event_store s WHERE s.xid >= v_from AND s.xid < v_to
                UNION ALL
                SELECT 1 FROM pg_snapshot_xip(p_base) x JOIN carillon.event_store s ON s.xid = x
                LIMIT 20000) few) < 20000 THEN
      RETURN NULL;
    END IF;
    WITH RECURSIVE xids AS (
      (SELECT s.xid FROM carillon.event_store s WHERE s.xid >= v_from AND s.xid < v_to ORDER BY s.xid LIMIT 1)
      UNION ALL
      SELECT (SELECT s.xid FROM carillon.event_store s WHERE s.xid > n.xid AND s.xid < v_to ORDER BY s.xid LIMIT 1)
        FROM xids n WHERE n.xid IS NOT NULL)
    SELECT array_agg(n.xid) INTO v_xids FROM (SELECT xid FROM xids WHERE xid IS NOT NULL LIMIT 2001) n;
  ELSE
    IF (SELECT count(*)
          FROM (SELECT 1 FROM carillon.event_store s
                 WHERE s.project = p_project AND s.topic = p_topic AND s.xid >= v_from AND s.xid < v_to
                UNION ALL
                SELECT 1 FROM pg_snapshot_xip(p_base) x
                  JOIN carillon.event_store s ON s.project = p_project AND s.topic = p_topic AND s.xid = x
                LIMIT 20000) few) < 20000 THEN
      RETURN NULL;
    END IF;
    WITH RECURSIVE xids AS (
      (SELECT s.xid FROM carillon.event_store s
        WHERE s.project = p_project AND s.topic = p_topic AND s.xid >= v_from AND s.xid < v_to ORDER BY s.xid LIMIT 1)
      UNION ALL
      SELECT (SELECT s.xid FROM carillon.event_store s
               WHERE s.project = p_project AND s.topic = p_topic AND s.xid > n.xid AND s.xid < v_to
               ORDER BY s.xid LIMIT 1)
        FROM xids n WHERE n.xid IS NOT NULL)
    SELECT array_agg(n.xid) INTO v_xids FROM (SELECT xid FROM xids WHERE xid IS NOT NULL LIMIT 2001) n;
  END IF;
  IF cardinality(v_xids) > 2000 THEN RETURN NULL; END IF;
  RETURN coalesce(v_xids, '{}') || ARRAY(SELECT x FROM pg_snapshot_xip(p_base) x);
END $$;

-- Returns the events behind the position (p_snapshot, p_seq) up to the snapshot p_last, in their order, at most
-- p_limit. An event is new in p_last if its transaction began after the snapshot p_base, or was open in it: both are
-- found by index. p_base is p_snapshot, or the snapshot before it if p_seq lies within p_snapshot; 0 is the snapshot
-- that contains nothing. With a project and a topic, only that topic is read; with a key too, only that key. If there
-- are many events in few transactions, each transaction is read in the order of seq from the position on, at most
-- p_limit: then a page does not read all events of a large transaction.
CREATE FUNCTION carillon.events_after(
  p_base bigint, p_last bigint, p_snapshot bigint, p_seq bigint, p_project text, p_topic text, p_key text,
  p_limit bigint)
RETURNS TABLE (snapshot bigint, seq bigint, project text, id uuid, day date, topic text, type text, key text)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  v_base pg_snapshot := coalesce((SELECT t.transactions FROM carillon.event_snapshot t WHERE t.snapshot = p_base),
                                 '3:3:');
  v_last pg_snapshot := (SELECT t.transactions FROM carillon.event_snapshot t WHERE t.snapshot = p_last);
  v_from xid8 := pg_snapshot_xmax(v_base);
  v_to xid8 := pg_snapshot_xmax(v_last);
  v_large xid8[] := CASE WHEN p_key IS NULL THEN carillon.large_event_xids(v_base, v_last, p_project, p_topic) END;
BEGIN
  IF v_large IS NOT NULL AND p_topic IS NULL THEN
    RETURN QUERY
    SELECT f.snapshot, e.seq, e.project, e.id, e.day, e.topic, e.type, e.key
      FROM (SELECT x AS xid, (SELECT min(t.snapshot) FROM carillon.event_snapshot t
                               WHERE t.snapshot > p_base AND t.snapshot <= p_last
                                 AND pg_visible_in_snapshot(x, t.transactions)
                             ) AS snapshot
              FROM unnest(v_large) x OFFSET 0) f
      CROSS JOIN LATERAL (SELECT s.* FROM carillon.event_store s
                           WHERE s.xid = f.xid AND s.seq > CASE WHEN f.snapshot = p_snapshot THEN p_seq ELSE -1 END
                           ORDER BY s.seq LIMIT p_limit) e
     WHERE f.snapshot >= p_snapshot
     ORDER BY f.snapshot, e.seq LIMIT p_limit;
  ELSIF v_large IS NOT NULL THEN
    RETURN QUERY
    SELECT f.snapshot, e.seq, e.project, e.id, e.day, e.topic, e.type, e.key
      FROM (SELECT x AS xid, (SELECT min(t.snapshot) FROM carillon.event_snapshot t
                               WHERE t.snapshot > p_base AND t.snapshot <= p_last
                                 AND pg_visible_in_snapshot(x, t.transactions)
                             ) AS snapshot
              FROM unnest(v_large) x OFFSET 0) f
      CROSS JOIN LATERAL (SELECT s.* FROM carillon.event_store s
                           WHERE s.project = p_project AND s.topic = p_topic AND s.xid = f.xid
                             AND s.seq > CASE WHEN f.snapshot = p_snapshot THEN p_seq ELSE -1 END
                           ORDER BY s.seq LIMIT p_limit) e
     WHERE f.snapshot >= p_snapshot
     ORDER BY f.snapshot, e.seq LIMIT p_limit;
  ELSIF p_topic IS NULL THEN
    RETURN QUERY
    SELECT first.snapshot, e.seq, e.project, e.id, e.day, e.topic, e.type, e.key
      FROM (SELECT s.* FROM carillon.event_store s
             WHERE s.xid >= v_from AND s.xid < v_to
               AND pg_visible_in_snapshot(s.xid, v_last)
            UNION ALL
            SELECT s.* FROM pg_snapshot_xip(v_base) x
              JOIN carillon.event_store s ON s.xid = x
             WHERE pg_visible_in_snapshot(s.xid, v_last)) e
      CROSS JOIN LATERAL (SELECT min(t.snapshot) AS snapshot FROM carillon.event_snapshot t
                           WHERE t.snapshot > p_base AND t.snapshot <= p_last
                             AND pg_visible_in_snapshot(e.xid, t.transactions)
                         ) first
     WHERE (first.snapshot, e.seq) > (p_snapshot, p_seq)
     ORDER BY first.snapshot, e.seq LIMIT p_limit;
  ELSIF p_key IS NULL THEN
    RETURN QUERY
    SELECT first.snapshot, e.seq, e.project, e.id, e.day, e.topic, e.type, e.key
      FROM (SELECT s.* FROM carillon.event_store s
             WHERE s.project = p_project AND s.topic = p_topic AND s.xid >= v_from AND s.xid < v_to
               AND pg_visible_in_snapshot(s.xid, v_last)
            UNION ALL
            SELECT s.* FROM pg_snapshot_xip(v_base) x
              JOIN carillon.event_store s ON s.project = p_project AND s.topic = p_topic AND s.xid = x
             WHERE pg_visible_in_snapshot(s.xid, v_last)) e
      CROSS JOIN LATERAL (SELECT min(t.snapshot) AS snapshot FROM carillon.event_snapshot t
                           WHERE t.snapshot > p_base AND t.snapshot <= p_last
                             AND pg_visible_in_snapshot(e.xid, t.transactions)
                         ) first
     WHERE (first.snapshot, e.seq) > (p_snapshot, p_seq)
     ORDER BY first.snapshot, e.seq LIMIT p_limit;
  ELSE
    RETURN QUERY
    SELECT first.snapshot, e.seq, e.project, e.id, e.day, e.topic, e.type, e.key
      FROM (SELECT s.* FROM carillon.event_store s
             WHERE s.project = p_project AND s.topic = p_topic AND s.key = p_key AND s.xid >= v_from AND s.xid < v_to
               AND pg_visible_in_snapshot(s.xid, v_last)
            UNION ALL
            SELECT s.* FROM pg_snapshot_xip(v_base) x
              JOIN carillon.event_store s ON s.project = p_project AND s.topic = p_topic AND s.key = p_key AND s.xid = x
             WHERE pg_visible_in_snapshot(s.xid, v_last)) e
      CROSS JOIN LATERAL (SELECT min(t.snapshot) AS snapshot FROM carillon.event_snapshot t
                           WHERE t.snapshot > p_base AND t.snapshot <= p_last
                             AND pg_visible_in_snapshot(e.xid, t.transactions)
                         ) first
     WHERE (first.snapshot, e.seq) > (p_snapshot, p_seq)
     ORDER BY first.snapshot, e.seq LIMIT p_limit;
  END IF;
END $$;

-- Returns events of a topic behind the position (p_snapshot, p_seq) up to the snapshot p_last, at most p_limit, for a
-- count: in no order, so that their snapshots are not looked up. p_base is as above.
CREATE FUNCTION carillon.some_events_after(
  p_base bigint, p_last bigint, p_snapshot bigint, p_seq bigint, p_project text, p_topic text, p_limit bigint)
RETURNS TABLE (topic text, type text, published_at timestamptz)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off AS $$
#variable_conflict use_column
DECLARE
  v_base pg_snapshot := coalesce((SELECT t.transactions FROM carillon.event_snapshot t WHERE t.snapshot = p_base),
                                 '3:3:');
  v_last pg_snapshot := (SELECT t.transactions FROM carillon.event_snapshot t WHERE t.snapshot = p_last);
  -- An event of the snapshot p_snapshot is behind the position if its seq is larger.
  v_at pg_snapshot := CASE WHEN p_snapshot = p_base THEN NULL
                           ELSE (SELECT t.transactions FROM carillon.event_snapshot t
                                  WHERE t.snapshot = p_snapshot) END;
  v_from xid8 := pg_snapshot_xmax(v_base);
  v_to xid8 := pg_snapshot_xmax(v_last);
BEGIN
  RETURN QUERY
  SELECT e.topic, e.type, e.published_at
    FROM (SELECT s.* FROM pg_snapshot_xip(v_base) x
            JOIN carillon.event_store s ON s.project = p_project AND s.topic = p_topic AND s.xid = x
           WHERE pg_visible_in_snapshot(s.xid, v_last)
          UNION ALL
          SELECT s.* FROM carillon.event_store s
           WHERE s.project = p_project AND s.topic = p_topic AND s.xid >= v_from AND s.xid < v_to
             AND pg_visible_in_snapshot(s.xid, v_last)) e
   WHERE e.seq > p_seq OR NOT coalesce(pg_visible_in_snapshot(e.xid, v_at), false)
   LIMIT p_limit;
END $$;

-- Returns the payload of a run of an event with the data of the event, which may have been too large to be copied. A
-- dead run keeps it, also when the event is removed. A payload without an event is returned unchanged.
CREATE FUNCTION carillon.complete_event_payload(p_project text, p_payload bytea)
RETURNS bytea LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET jit = off AS $$
DECLARE
  v_payload jsonb;
  v_event jsonb;
  v_id uuid;
  v_codec text;
  v_data bytea;
  v_text text;
BEGIN
  v_payload := convert_from(p_payload, 'UTF8')::jsonb;
  v_event := CASE WHEN v_payload ? 'endpoint' THEN v_payload -> 'event' ELSE v_payload END;
  IF v_event ->> 'id' IS NULL OR v_event ? 'base64' OR v_event ->> 'data' IS NOT NULL THEN RETURN p_payload; END IF;
  v_id := (v_event ->> 'id')::uuid;
  SELECT e.codec, e.data INTO v_codec, v_data FROM carillon.event_store e
   WHERE e.project = p_project AND e.id = v_id AND e.day = carillon.day_of_id(v_id);
  IF NOT FOUND THEN RETURN p_payload; END IF;
  v_text := CASE WHEN v_codec = 'json' THEN convert_from(v_data, 'UTF8')
                 ELSE translate(encode(v_data, 'base64'), chr(10), '') END;
  IF v_payload ? 'endpoint' THEN
    RETURN convert_to(jsonb_set(v_payload, '{event,data}', to_jsonb(v_text))::text, 'UTF8');
  END IF;
  RETURN convert_to(left(convert_from(p_payload, 'UTF8'), -1)
                    || CASE WHEN v_codec = 'json' THEN ',"data":' || v_text ELSE ',"base64":"' || v_text || '"' END
                    || '}', 'UTF8');
EXCEPTION WHEN invalid_text_representation OR untranslatable_character OR character_not_in_repertoire THEN
  RETURN p_payload;
END $$;

-- Returns the UTC day of the time in an id.
CREATE FUNCTION carillon.day_of_id(p_id uuid) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT (to_timestamp(('x' || left(translate(p_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
            AT TIME ZONE 'UTC')::date
$$;

-- Returns an id with the current time and the random part of another one.
CREATE FUNCTION carillon.id_now(p_other uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT (lpad(to_hex(floor(extract(epoch FROM carillon.clock()) * 1000)::bigint), 12, '0') || '7'
            || right(translate(p_other::text, '-', ''), 19))::uuid
$$;
