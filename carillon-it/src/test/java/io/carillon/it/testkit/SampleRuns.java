package io.carillon.it.testkit;

import io.carillon.testkit.TestDatabase;

/** Inserts runs directly into the tables, for tests that read them with the kit. */
final class SampleRuns {
    private static final String PARTITION = """
            CREATE TABLE IF NOT EXISTS carillon.run_history_all PARTITION OF carillon.run_history FOR VALUES
              FROM ('2000-01-01') TO ('2100-01-01')
            """;

    private static final String WAITING = """
            INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name,
              codec, payload, key)
            SELECT 'default', gen_random_uuid(), 'mail', 1, due, due, '2026-01-01', 'direct', 'handler', '%s', 'json',
              '{"to":"ann"}', '%s'
              FROM (SELECT carillon.clock() + interval '%d seconds' AS due) d
            """;

    private static final String RUNNING = """
            UPDATE carillon.run SET owner = gen_random_uuid(), attempt = attempt + 1 WHERE target_name = '%s'
            """;

    private static final String ENDED = """
            INSERT INTO carillon.run_history (project, id, day, queue, priority, node_deaths, crashes, attempt,
              failures, due_at, ended_at, created_at,
                                              state, origin, target, target_name, reason)
            VALUES ('default', gen_random_uuid(), '2026-01-01', 'mail', 1, 0, 0, 2, 1, carillon.clock(),
              carillon.clock(), carillon.clock(),
                    '%s', 'direct', 'handler', '%s', '%s')
            """;

    private static final String DEAD = """
            INSERT INTO carillon.dead_run (project, id, state, queue, priority, attempt, failures, crashes, due_at,
              origin, target, target_name, codec, payload, died_at)
            SELECT project, id, state, queue, priority, attempt, failures, crashes, due_at, origin, target, target_name,
              'json', '{"to":"bob"}', ended_at
              FROM carillon.run_history WHERE target_name = '%s' AND state = 'dead'
            """;

    private final TestDatabase database;

    SampleRuns(TestDatabase database) {
        this.database = database;
        database.execute(PARTITION);
    }

    void waiting(String handler, String key, int dueInSeconds) {
        database.execute(WAITING.formatted(handler, key, dueInSeconds));
    }

    void start(String handler) {
        database.execute(RUNNING.formatted(handler));
    }

    /** Inserts an ended run with two attempts, one of them failed. */
    void ended(String handler, String state, String reason) {
        database.execute(ENDED.formatted(state, handler, reason));
        if (state.equals("dead")) database.execute(DEAD.formatted(handler));
    }
}
