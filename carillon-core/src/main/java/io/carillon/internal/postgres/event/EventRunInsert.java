package io.carillon.internal.postgres.event;

import io.carillon.internal.postgres.sql.RunInsert;

/** The SQL that inserts the runs of events, a part of the statements that move places. */
final class EventRunInsert {
    /** Data above this size is not copied to the run; the run loads it from the event. The parameter maxCopied. */
    static final int MAX_COPIED_BYTES = 2_048;

    // For a handler, the payload is JSON with the data as its last member, so that a reader finds the bytes of the data
    // unchanged. For an endpoint it is a webhook, in which the data is text.
    private static final String PAYLOAD = """
            convert_to(CASE WHEN w.endpoint IS NULL THEN
              left(json_build_object('id', e.id, 'topic', e.topic, 'type', e.type, 'key', e.key,
                'version', e.version,
                'publishedAt', to_char(e.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'schedule', e.schedule,
                'plannedAt', to_char(e.planned_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'headers', e.headers::json, 'codec', e.codec)::text, -1)
                || CASE WHEN octet_length(e.data) > :maxCopied THEN ''
                        WHEN e.codec = 'json' THEN ',"data":' || convert_from(e.data, 'UTF8')
                        ELSE ',"base64":"' || translate(encode(e.data, 'base64'), chr(10), '') || '"' END
                || '}'
              ELSE json_build_object('endpoint', w.endpoint, 'event', json_build_object(
                'id', e.id, 'topic', e.topic, 'type', e.type, 'key', e.key, 'version', e.version,
                'publishedAt', to_char(e.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'plannedAt', to_char(e.planned_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                'headers', e.headers::json, 'codec', e.codec, 'mode', w.mode,
                'data', CASE WHEN octet_length(e.data) > :maxCopied THEN NULL
                             WHEN e.codec = 'json' THEN convert_from(e.data, 'UTF8')
                             ELSE translate(encode(e.data, 'base64'), chr(10), '') END))::text END, 'UTF8')
            """;

    // The id of each run has the time and the random part of the first one, and between them its number.
    private static final String ID = """
            (left(:firstRun, 15) || lpad(to_hex(w.number / 16384), 3, '0') || '-'
               || to_hex(32768 + w.number % 16384) || '-' || right(:firstRun, 12))::uuid
            """;

    private EventRunInsert() {}

    /**
     * Returns an insert for each row of a relation with the columns of a subscription, the id and day of an event, and
     * a number from 0 that gives the order. The positions at the gates of the keys are taken in this order. The unique
     * key keeps a replay from creating a second run while the first one waits.
     */
    static String from(String relation) {
        return RunInsert.of("n", "n.run", "'event'", "n.due_at")
                .with("key", "n.unique_key")
                .behindGate("n.gate", "n.gate_limit")
                .from("(SELECT w.project, w.queue, w.priority, 'handler' AS target, w.target_name, 'json' AS codec,\n"
                        + " NULL::text AS headers, NULL::text AS policy, " + ID + """
                         AS run, carillon.clock() AS due_at,
                         'event:' || e.id || CASE WHEN w.target_name = w.name THEN '' ELSE ':' || w.name END
                           AS unique_key,
                         CASE WHEN w.in_order AND e.key IS NOT NULL THEN 1 END AS gate_limit,
                         CASE WHEN w.in_order AND e.key IS NOT NULL THEN 'fifo:' || w.name || '/' || e.key END AS gate,
                        """ + PAYLOAD + " AS payload\n FROM "
                        + relation + """
                         w
                          CROSS JOIN LATERAL (SELECT * FROM carillon.event_store
                                               WHERE project = w.project AND id BETWEEN w.event AND w.event
                                                 AND day = w.event_day
                                               ORDER BY id LIMIT 1) e
                         ORDER BY w.number) n
                        ON CONFLICT DO NOTHING RETURNING project, queue, gate_key
                        """);
    }
}
