package io.carillon.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.server.RestTestServer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lists of runs are filtered by time, by what they are not, and by texts in errors and payloads. */
class RunFiltersTest {
    /** The payload of the handlers in this test. */
    record Note(String text) {}

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.handleReturning(HandlerType.of("ok", Note.class), (note, run) -> note)
                    .handleReturning(HandlerType.of("dies", Note.class), (note, run) -> Outcome.rejected("Bad ADDRESS"))
                    .handle(HandlerType.of("fails", Note.class), (note, run) -> {
                        throw new IllegalStateException("Connection RESET by peer");
                    }),
            server -> server);

    private static String enqueue(String key, String handler, String more) {
        return SERVER.post(
                        key,
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"%s\"},\"payload\":{\"text\":\"to %s\"}%s}"
                                .formatted(handler, handler, more))
                .requireStatus(201)
                .at("/run");
    }

    private static List<String> list(String key, String filters) {
        List<String> found = new ArrayList<>();
        String next = "";
        do {
            RestTestServer.Reply page =
                    SERVER.get(key, "/v1/runs?" + filters + next).requireStatus(200);
            page.json().path("items").forEach(run -> found.add(run.path("id").stringValue("")));
            String cursor = page.at("/next");
            next = cursor.isEmpty() ? "" : "&cursor=" + cursor;
        } while (!next.isEmpty());
        return found;
    }

    private static Instant createdAt(String key, String run) {
        return Instant.parse(SERVER.get(key, "/v1/runs/" + run).at("/createdAt"));
    }

    @Test
    void leaves_out_a_queue_a_handler_or_a_state() {
        String key = SERVER.createProject("negated");
        String mail = enqueue(key, "ok", ",\"queue\":\"mail\",\"after\":\"1h\"");
        String other = enqueue(key, "fails", ",\"after\":\"1h\"");
        String ended = enqueue(key, "ok", "");
        SERVER.post(key, "/v1/runs/" + ended + "/cancel", null).requireStatus(200);

        assertThat(list(key, "notQueue=mail")).containsExactly(ended, other);
        assertThat(list(key, "notHandler=ok")).containsExactly(other);
        assertThat(list(key, "notState=waiting")).containsExactly(ended);
        assertThat(list(key, "notState=cancelled")).containsExactly(other, mail);
        assertThat(list(key, "handler=ok&notState=cancelled")).containsExactly(mail);
    }

    @Test
    void finds_the_runs_of_a_time() {
        String key = SERVER.createProject("timed");
        String first = enqueue(key, "ok", ",\"after\":\"1h\"");
        String second = enqueue(key, "ok", "");
        SERVER.post(key, "/v1/runs/" + second + "/cancel", null).requireStatus(200);
        String third = enqueue(key, "ok", ",\"after\":\"1h\"");
        Instant middle = createdAt(key, second);

        assertThat(list(key, "from=" + middle)).containsExactly(third, second);
        assertThat(list(key, "to=" + middle)).containsExactly(second, first);
        assertThat(list(key, "from=" + middle + "&to=" + middle)).containsExactly(second);
        assertThat(list(key, "from=" + middle.plusSeconds(7_200))).isEmpty();
        assertThat(list(key, "to=" + middle.minusSeconds(7_200))).isEmpty();
        assertThat(list(key, "limit=1&from=" + middle)).containsExactly(third, second);
    }

    @Test
    void finds_the_text_of_an_error() {
        String key = SERVER.createProject("errors");
        String dead = enqueue(key, "dies", "");
        String failing = enqueue(key, "fails", "");
        String fine = enqueue(key, "ok", "");
        SERVER.runDue();

        assertThat(list(key, "error=connection%20reset")).containsExactly(failing);
        assertThat(list(key, "error=bad%20address")).containsExactly(dead);
        assertThat(list(key, "error=bad%20address&notState=dead")).isEmpty();
        assertThat(list(key, "error=100%25")).isEmpty();
        assertThat(list(key, "notState=dead")).containsExactly(fine, failing);
    }

    @Test
    void finds_the_text_of_a_kept_payload_for_those_who_may_see_it() {
        String key = SERVER.createProject("payloads");
        String dead = enqueue(key, "dies", "");
        String fine = enqueue(key, "ok", "");
        SERVER.runDue();
        String waiting = enqueue(key, "ok", ",\"after\":\"1h\"");

        assertThat(list(key, "payload=to%20dies")).containsExactly(dead);
        assertThat(list(key, "payload=to%20ok")).containsExactly(waiting).doesNotContain(fine);
        assertThat(list(key, "payload=TO%20OK")).isEmpty();
        String reader = SERVER.createKeyAs(key, "read");
        assertThat(SERVER.get(reader, "/v1/runs?payload=to").requireStatus(403).at("/detail"))
                .contains("one of the scopes admin, manage");
        SERVER.get(reader, "/v1/runs?error=to").requireStatus(200);
    }

    @Test
    void a_search_reads_a_limited_number_of_runs_for_each_page() {
        String key = SERVER.createProject("many");
        String oldest = enqueue(key, "dies", ",\"after\":\"1h\"");
        String batch = IntStream.range(0, 1_000).mapToObj(i -> "{}").collect(Collectors.joining(","));
        for (int i = 0; i < 2; i++)
            SERVER.post(
                            key,
                            "/v1/runs:batch",
                            "{\"target\":{\"handler\":\"ok\"},\"after\":\"1h\",\"runs\":[" + batch + "]}")
                    .requireStatus(201);

        RestTestServer.Reply first = SERVER.get(key, "/v1/runs?payload=dies").requireStatus(200);

        assertThat(first.json().path("items")).isEmpty();
        assertThat(first.at("/next")).isNotEmpty();
        assertThat(list(key, "payload=dies")).containsExactly(oldest);
        // Another filter leaves few runs to read.
        RestTestServer.Reply filtered =
                SERVER.get(key, "/v1/runs?payload=dies&notHandler=ok").requireStatus(200);
        assertThat(filtered.at("/items/0/id")).isEqualTo(oldest);
        assertThat(filtered.json().has("next")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "from, noon",
        "to, ''",
        "to, 2026-01-01T00:00:00Z&from=2026-01-02T00:00:00Z",
        "notState, sleeping",
        "notQueue, A B",
        "error, ''",
        "payload, ''"
    })
    void refuses_other_values(String name, String value) {
        String encoded = value.contains("&") ? value : URLEncoder.encode(value, StandardCharsets.UTF_8);

        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/runs?" + name + "=" + encoded)
                        .requireStatus(400)
                        .code())
                .isEqualTo("invalid-parameter");
    }
}
