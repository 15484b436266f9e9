package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.Carillon;
import io.carillon.testkit.FaultProxy;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** While the database is away the server says so, and goes on by itself when it is back. */
class AwayTest {
    private static final Served CLIENT = new Served();

    @Test
    void answers_503_while_the_database_is_away_and_recovers() {
        try (TestDatabase database = TestDatabase.migrated();
                FaultProxy proxy = FaultProxy.before(database);
                Carillon carillon = Carillon.on(database.pool(6)).build();
                CarillonServer server = CarillonServer.on(carillon, proxy.dataSource())
                        .listen("127.0.0.1", 0)
                        .start()) {
            String key = server.bootstrapKey().orElseThrow();
            CLIENT.raw(server.port(), key, "GET", "/v1/stats", null).is(200);

            proxy.refuse();
            proxy.cut();

            CLIENT.raw(server.port(), null, "GET", "/healthz", null).is(200);
            CLIENT.raw(server.port(), null, "GET", "/readyz", null).is(503);
            Served.Reply away =
                    CLIENT.raw(server.port(), key, "GET", "/v1/stats", null).is(503);
            assertThat(away.code()).isEqualTo("unavailable");
            assertThat(away.header("Retry-After")).isPresent();
            assertThat(away.text()).doesNotContain("SQL", "Connection", "java");

            proxy.pass();
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> CLIENT.raw(server.port(), key, "GET", "/v1/stats", null)
                                    .status()
                            == 200);
        }
    }
}
