package io.carillon.postgres;

/**
 * Reaches rows of the hot table by their fence, in a way that does not hang on statistics. A queue is empty most of the time, and a table that was vacuumed
 * while it was empty counts as empty until the next time: a join with it is planned as a walk through all that came in since.
 */
final class FencedRows {
    // One by one by their key: the range leaves it as the only index in this order. Written to by ctid, which is safe,
    // because they are locked. Before it stands what was asked for: e(project, id, attempt, ...).
    static final String HELD = """
            held AS MATERIALIZED (
              SELECT e.*, mine.place
                FROM e, LATERAL (SELECT ctid AS place FROM carillon.run
                                  WHERE project = e.project AND id BETWEEN e.id AND e.id
                                    AND attempt = e.attempt AND owner = :owner -- missing: another node holds it now
                                  ORDER BY id LIMIT 1 FOR UPDATE) mine)
            """;

    private FencedRows() {}
}
