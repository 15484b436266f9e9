package io.carillon.internal.postgres.schedule;

import io.carillon.internal.jdbc.Database;
import java.time.Duration;
import java.util.UUID;

/**
 * A token, the right of one node to plan or to claim: a row with an owner, an epoch that grows with each new owner, and
 * an expiry.
 */
final class LeaderToken {
    // The owner renews it; any node may take it over after it has expired. If many nodes try at the same time, the
    // row lets one of them through.
    private static final String ACQUIRE = """
            INSERT INTO carillon.leader_token AS t (name, owner, epoch, expires_at)
            VALUES (:token, :owner, 1, carillon.clock() + make_interval(secs => :lease))
            ON CONFLICT (name) DO UPDATE
               SET owner = excluded.owner, epoch = t.epoch + CASE WHEN t.owner = excluded.owner THEN 0
                 ELSE 1 END, expires_at = excluded.expires_at
             WHERE t.owner = excluded.owner OR t.expires_at <= carillon.clock()
            """;

    private static final String RELEASE = """
            UPDATE carillon.leader_token SET expires_at = '-infinity' WHERE name = :token AND owner = :owner
            """;

    private final Database database;
    private final String name;

    /** {@code name} is that of the right, such as planning. */
    LeaderToken(Database database, String name) {
        this.database = database;
        this.name = name;
    }

    boolean acquire(UUID node, Duration lease) {
        return database.single(session -> session.query(ACQUIRE)
                        .text("token", name)
                        .uuid("owner", node)
                        .seconds("lease", lease)
                        .update()
                == 1);
    }

    void release(UUID node) {
        database.single(session ->
                session.query(RELEASE).text("token", name).uuid("owner", node).update());
    }
}
