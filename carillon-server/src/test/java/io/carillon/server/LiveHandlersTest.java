package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.HandlerType;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** A change that names a handler which no live node has succeeds with a warning. */
class LiveHandlersTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static String warnings(RestTestServer.Reply reply) {
        return reply.json().path("warnings").toString();
    }

    private static RestTestServer.Reply enqueue() {
        return SERVER.post(SERVER.bootstrap(), "/v1/runs", "{\"target\":{\"handler\":\"late\"},\"after\":\"1h\"}")
                .requireStatus(201);
    }

    @Test
    void schedules_and_runs_warn_until_a_node_with_the_handler_starts() {
        String schedule = "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"late\"}}";
        String batch = "{\"target\":{\"handler\":\"late\"},\"after\":\"1h\",\"runs\":[{},{}]}";

        assertThat(warnings(SERVER.put(SERVER.bootstrap(), "/v1/schedules/s", schedule)))
                .isEqualTo("[\"no live node has a handler named 'late', so its runs wait until one starts\"]");
        assertThat(warnings(enqueue())).contains("'late'");
        assertThat(warnings(SERVER.post(SERVER.bootstrap(), "/v1/runs:batch", batch)))
                .contains("'late'");

        try (Carillon node = Carillon.on(SERVER.database().pool(6))
                .handle(HandlerType.of("late", JsonNode.class), (payload, run) -> {})
                .start()) {
            assertThat(node.isRunning()).isTrue();
            Awaitility.await()
                    .atMost(Duration.ofSeconds(10))
                    .until(() -> warnings(enqueue()).isEmpty());
            assertThat(warnings(SERVER.put(SERVER.bootstrap(), "/v1/schedules/s", schedule)))
                    .isEmpty();
        }
    }
}
