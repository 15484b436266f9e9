package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.Carillon;
import io.carillon.testkit.NodeProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.StreamSupport;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;
import tools.jackson.databind.JsonNode;

/** Two servers whose clocks differ by an hour show the same order and the same time: those of the database. */
@Timeout(60)
class ServerClocksTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    /** The only class that reads the system clock, as on a machine that is an hour behind. */
    private static final String SLOW_CLOCK_SOURCE = """
            package io.carillon.internal.value;

            public final class WallClock {
                private WallClock() {}

                public static long millis() {
                    return System.currentTimeMillis() - 3_600_000L;
                }
            }
            """;

    private static NodeProcess process;
    private static int slow;

    @BeforeAll
    static void startTheSlowServer(@TempDir Path folder) throws Exception {
        Path source = folder.resolve("WallClock.java");
        Files.writeString(source, SLOW_CLOCK_SOURCE);
        int compiled = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-d", folder.toString(), source.toString());
        assertThat(compiled).isZero();
        process = NodeProcess.start(
                List.of("-Xbootclasspath/a:" + folder),
                SlowServer.class,
                SERVER.database().jdbcUrl(),
                SERVER.database().user(),
                SERVER.database().password());
        String off = process.awaitLine("behind ", Duration.ofSeconds(30)).substring("behind ".length());
        assertThat(Duration.parse(off)).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(61));
        slow = Integer.parseInt(
                process.awaitLine("port ", Duration.ofSeconds(30)).substring("port ".length()));
    }

    @AfterAll
    static void stopTheSlowServer() {
        process.close();
    }

    /** A server in a separate JVM. */
    static final class SlowServer {
        private SlowServer() {}

        public static void main(String[] arguments) throws Exception {
            PGSimpleDataSource source = new PGSimpleDataSource();
            source.setUrl(arguments[0]);
            source.setUser(arguments[1]);
            source.setPassword(arguments[2]);
            System.out.println("behind "
                    + Duration.ofMillis(System.currentTimeMillis() - io.carillon.internal.value.WallClock.millis()));
            try (Carillon carillon = Carillon.on(source).build();
                    CarillonServer server = CarillonServer.on(carillon, source)
                            .listen("127.0.0.1", 0)
                            .start()) {
                System.out.println("port " + server.port());
                new CountDownLatch(1).await();
            }
        }
    }

    private static long databaseMillis() {
        return SERVER.query("SELECT (extract(epoch FROM carillon.clock()) * 1000)::bigint")
                .number();
    }

    private static List<Integer> both() {
        return List.of(slow, SERVER.server().port());
    }

    private static JsonNode get(int port, String key, String path) {
        return SERVER.sendTo(port, key, "GET", path, null).requireStatus(200).json();
    }

    private static List<String> texts(JsonNode items, String field) {
        return StreamSupport.stream(items.path("items").spliterator(), false)
                .map(item -> item.path(field).stringValue(""))
                .toList();
    }

    @Test
    void runs_and_the_audit_log_are_listed_in_the_order_of_arrival() {
        String key = SERVER.createProject("order");
        List<String> made = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            made.add(SERVER.sendTo(
                            both().get(i % 2),
                            key,
                            "POST",
                            "/v1/runs",
                            "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                    .requireStatus(201)
                    .at("/run"));
            // Each server estimates the database clock, so two runs of the same milliseconds may have either order.
            long last = databaseMillis();
            await().until(() -> databaseMillis() > last + 20);
        }
        Collections.reverse(made);

        for (int port : both()) {
            assertThat(texts(get(port, key, "/v1/runs"), "id")).isEqualTo(made);
            JsonNode first = get(port, key, "/v1/runs?limit=3");
            assertThat(texts(first, "id")).isEqualTo(made.subList(0, 3));
            assertThat(texts(
                            get(
                                    port,
                                    key,
                                    "/v1/runs?limit=3&cursor="
                                            + first.path("next").stringValue("")),
                            "id"))
                    .isEqualTo(made.subList(3, 6));
            List<String> times = texts(get(port, key, "/v1/audit?action=run.enqueue"), "at");
            assertThat(times)
                    .hasSize(6)
                    .isSortedAccordingTo((one, other) -> Instant.parse(other).compareTo(Instant.parse(one)));
        }
    }

    @Test
    void queries_without_a_range_end_at_the_database_time() {
        String key = SERVER.createProject("present");
        SERVER.put(key, "/v1/schedules/minutes", "{\"when\":{\"cron\":\"* * * * *\"},\"target\":{\"handler\":\"a\"}}")
                .requireStatus(201);
        for (int port : both()) {
            Instant now = Instant.parse(SERVER.query(
                            "SELECT to_char(carillon.clock() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
                    .text());
            assertThat(Instant.parse(get(port, key, "/v1/schedules/minutes/ledger")
                            .path("to")
                            .stringValue("")))
                    .isBetween(now.minusSeconds(1), now.plusSeconds(30));
            assertThat(Instant.parse(get(port, key, "/v1/schedules/minutes")
                            .path("nextRuns")
                            .path(0)
                            .stringValue("")))
                    .isBetween(now, now.plusSeconds(90));
            JsonNode coming =
                    get(port, key, "/v1/timeline").path("items").path(0).path("coming");
            assertThat(Instant.parse(coming.path(0).path("at").stringValue(""))).isBetween(now, now.plusSeconds(90));
        }
    }
}
