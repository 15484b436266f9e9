package io.carillon.postgres;

import java.time.Duration;
import java.util.UUID;

/** The right to plan, where only one node shall: a row with a holder, an epoch that grows with each new one, and an end. */
final class PlanningToken {
    // Renewed by its holder, taken over by anybody once it has ended; of many who try at once the row lets one through.
    private static final String HOLD = """
            INSERT INTO carillon.token AS t (name, owner, epoch, expires_at)
            VALUES ('planning', :owner, 1, carillon.clock() + make_interval(secs => :lease))
            ON CONFLICT (name) DO UPDATE
               SET owner = excluded.owner, epoch = t.epoch + CASE WHEN t.owner = excluded.owner THEN 0 ELSE 1 END, expires_at = excluded.expires_at
             WHERE t.owner = excluded.owner OR t.expires_at <= carillon.clock()
            """;

    private static final String LET_GO = """
            UPDATE carillon.token SET expires_at = '-infinity' WHERE name = 'planning' AND owner = :owner
            """;

    private final Database database;

    PlanningToken(Database database) {
        this.database = database;
    }

    boolean hold(UUID node, Duration lease) {
        return database.single(session ->
                session.query(HOLD).uuid("owner", node).seconds("lease", lease).update() == 1);
    }

    void letGo(UUID node) {
        database.single(session -> session.query(LET_GO).uuid("owner", node).update());
    }
}
