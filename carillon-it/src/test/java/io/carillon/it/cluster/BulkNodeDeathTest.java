package io.carillon.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.it.cluster.Servers.ServerReply;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server is killed during a bulk action. */
class BulkNodeDeathTest {
    private static final Pattern ID = Pattern.compile("\"id\":\"(blk_\\w+)\"");
    // Blocks the server after its first chunk until the test releases lock 42.
    private static final String BLOCKING_TRIGGER = """
            CREATE FUNCTION stumble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
              PERFORM pg_advisory_xact_lock_shared(42);
              RETURN NEW;
            END $$;
            CREATE TRIGGER stumble BEFORE UPDATE ON carillon.bulk_action FOR EACH ROW WHEN (OLD.done > 0)
              EXECUTE FUNCTION stumble()
            """;
    private static final String BLOCKED =
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND NOT granted";

    @Tag("slow")
    @Test
    void another_server_continues_the_bulk_action_and_changes_no_run_twice() throws Exception {
        try (Servers servers = new Servers(2)) {
            for (int i = 0; i < 3; i++)
                assertThat(servers.send(
                                        servers.get(0),
                                        "POST",
                                        "/v1/runs:batch",
                                        "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\",\"runs\":["
                                                + "{},".repeat(849) + "{}]}")
                                .status())
                        .isEqualTo(201);
            servers.database.execute(BLOCKING_TRIGGER);
            String id;
            try (Connection owner = servers.database.dataSource().getConnection();
                    Statement statement = owner.createStatement()) {
                statement.execute("SELECT pg_advisory_lock(42)");
                ServerReply begun = servers.send(
                        servers.get(0),
                        "POST",
                        "/v1/bulk-actions",
                        "{\"action\":\"cancel\",\"filter\":{\"state\":\"waiting\"}}");
                assertThat(begun.status()).as(begun.body()).isEqualTo(202);
                Matcher found = ID.matcher(begun.body());
                assertThat(found.find()).isTrue();
                id = found.group(1);
                await().atMost(Duration.ofSeconds(20))
                        .until(() -> servers.database.query(BLOCKED).number() >= 1);
                assertThat(servers.database
                                .query("SELECT done FROM carillon.bulk_action")
                                .number())
                        .isEqualTo(1_000);
                servers.get(0).process().kill();
                statement.execute("SELECT pg_advisory_unlock(42)");
            }

            await().atMost(Duration.ofSeconds(30))
                    .until(() -> servers.send(servers.get(1), "GET", "/v1/bulk-actions/" + id, "")
                            .body()
                            .contains("\"state\":\"done\""));
            assertThat(servers.database
                            .query("SELECT done FROM carillon.bulk_action")
                            .number())
                    .isEqualTo(2_550);
            assertThat(servers.database
                            .query("SELECT count(*) FROM carillon.run")
                            .number())
                    .isZero();
            assertThat(servers.database
                            .query("SELECT count(*) FROM carillon.run_history WHERE state = 'cancelled'")
                            .number())
                    .isEqualTo(2_550);
            assertThat(servers.database
                            .query("SELECT count(*) FROM carillon.audit WHERE action = 'bulk.end'")
                            .number())
                    .isEqualTo(1);
        }
    }
}
