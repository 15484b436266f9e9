package io.carillon.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.server.RestTestServer;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Statistics over REST. Every response is also checked against its schema. */
class StatsTest {
    record Note(String text) {}

    private static final HandlerType<Note> ECHO = HandlerType.of("echo", Note.class);
    private static final HandlerType<Note> NEVER = HandlerType.of("never", Note.class);

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.handleReturning(ECHO, (note, run) -> note)
                    .handleReturning(NEVER, (note, run) -> Outcome.rejected("no")),
            server -> server);

    private static String key;
    private static String other;

    @BeforeAll
    static void end_runs() {
        key = SERVER.createProject("counted");
        other = SERVER.createProject("idle");
        for (int i = 0; i < 3; i++) enqueue("echo", "");
        enqueue("echo", ",\"queue\":\"slow\"");
        enqueue("never", "");
        String waiting = enqueue("echo", ",\"after\":\"1h\"");
        SERVER.runDue();
        SERVER.post(key, "/v1/runs/" + waiting + "/cancel", null).requireStatus(200);
        enqueue("echo", ",\"after\":\"1h\"");
        // Writes what the cancellation counted.
        SERVER.runDue();
    }

    private static String enqueue(String handler, String more) {
        return SERVER.post(
                        key,
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"%s\"},\"payload\":{\"text\":\"hi\"}%s}".formatted(handler, more))
                .requireStatus(201)
                .at("/run");
    }

    private static JsonNode stats(String query) {
        return SERVER.get(key, "/v1/stats" + query).requireStatus(200).json();
    }

    @Test
    void the_last_hour_has_counts_rates_and_percentiles() {
        JsonNode stats = stats("");

        JsonNode total = stats.path("total");
        assertThat(total.path("ended").asInt()).isEqualTo(6);
        assertThat(total.path("succeeded").asInt()).isEqualTo(4);
        assertThat(total.path("dead").asInt()).isOne();
        assertThat(total.path("cancelled").asInt()).isOne();
        assertThat(total.path("failureRate").asDouble()).isEqualTo(0.2);
        assertThat(total.path("perSecond").asDouble()).isPositive();
        assertThat(total.path("waitMillis").path("count").asInt()).isEqualTo(5);
        assertThat(total.path("runMillis").path("p99").asDouble()).isPositive();
        assertThat(total.has("latenessMillis")).as("no ticks").isFalse();
        assertThat(stats.path("waiting").asInt()).isOne();
        assertThat(stats.path("dead").asInt()).isOne();
        assertThat(stats.path("points").isEmpty()).isTrue();
        assertThat(stats.path("groups").isEmpty()).isTrue();
    }

    @Test
    void steps_and_groups_are_listed() {
        JsonNode byQueue = stats("?step=5m&by=queue");
        assertThat(byQueue.path("step").asString()).isEqualTo("PT5M");
        assertThat(byQueue.path("points").size()).isBetween(12, 13);
        assertThat(sum(byQueue.path("points"))).isEqualTo(6);
        assertThat(byQueue.path("groups").path(0).path("queue").asString()).isEqualTo("echo");
        assertThat(sum(byQueue.path("groups").path(0).path("points"))).isEqualTo(4);

        JsonNode first = stats("?by=target&limit=1").path("groups");
        assertThat(first.path(0).path("handler").asString()).isEqualTo("echo");
        assertThat(first.path(1).path("other").asBoolean()).isTrue();
        assertThat(first.path(1).path("total").path("dead").asInt()).isOne();

        assertThat(stats("?by=outcome")
                        .path("groups")
                        .valueStream()
                        .map(group -> group.path("outcome").asString() + " "
                                + group.path("total").path("ended").asInt()))
                .containsExactly("succeeded 4", "dead 1", "cancelled 1");
        assertThat(stats("?queue=slow").path("total").path("ended").asInt()).isOne();
        assertThat(stats("?handler=never").path("total").path("ended").asInt()).isOne();
    }

    private static long sum(JsonNode points) {
        return points.valueStream()
                .mapToLong(point -> point.path("ended").asLong())
                .sum();
    }

    @Test
    void another_project_sees_none_of_it() {
        assertThat(SERVER.get(other, "/v1/stats?by=queue").requireStatus(200).at("/total/ended"))
                .isEqualTo("0");
        assertThat(SERVER.query("SELECT count(*) FROM pg_policies WHERE schemaname = 'carillon'"
                                + " AND tablename IN ('stats_minute', 'stats_hour')"
                                + " AND policyname = 'current_project_only'")
                        .number())
                .isEqualTo(2);
    }

    @Test
    void an_invalid_parameter_is_named() {
        Instant now = Instant.now();
        Stream.of(
                        "step=90s",
                        "step=soon",
                        "step=1m&from=" + now.minus(Duration.ofHours(7)),
                        "step=1h&from=" + now.minus(Duration.ofDays(89)))
                .forEach(query -> assertThat(SERVER.get(key, "/v1/stats?" + query)
                                .requireStatus(400)
                                .text())
                        .as(query)
                        .contains("\"step\""));
        assertThat(SERVER.get(key, "/v1/stats?from=" + now.plusSeconds(600))
                        .requireStatus(400)
                        .text())
                .contains("\"from\"");
        SERVER.get(key, "/v1/stats?by=color").requireStatus(400);
        SERVER.get(key, "/v1/stats?limit=101").requireStatus(400);
        SERVER.get(key, "/v1/stats?queue=NO").requireStatus(400);
    }
}
