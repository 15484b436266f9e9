package io.carillon.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import io.carillon.server.RestTestServer.Reply;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

class ScheduleBatchTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static String schedule(String name, String handler, String cron) {
        return "{\"name\":\"%s\",\"when\":{\"cron\":\"%s\"},\"target\":{\"handler\":\"%s\"}}"
                .formatted(name, cron, handler);
    }

    private static String daily(String name) {
        return schedule(name, "a", "0 2 * * *");
    }

    private static Reply send(String key, List<String> schedules, String... headers) {
        return SERVER.send(
                key, "POST", "/v1/schedules:batch", "{\"schedules\":[" + String.join(",", schedules) + "]}", headers);
    }

    private static List<String> changes(Reply reply) {
        List<String> changes = new ArrayList<>();
        for (JsonNode item : reply.requireStatus(200).json().path("items"))
            changes.add(item.path("name").stringValue() + " "
                    + (item.has("error")
                            ? item.at("/error/code").stringValue()
                            : item.path("change").stringValue() + " "
                                    + item.path("version").asInt()));
        return changes;
    }

    private static long count(String sql, String project) {
        return SERVER.query(sql, project).number();
    }

    @Test
    void creates_changes_and_leaves_schedules_with_a_result_and_an_audit_entry_for_each() {
        String key = SERVER.createProject("several");

        assertThat(changes(send(key, List.of(daily("b"), daily("a"))))).containsExactly("b created 1", "a created 1");
        assertThat(changes(send(key, List.of(schedule("b", "a", "0 3 * * *"), daily("a"), daily("c")))))
                .containsExactly("b updated 2", "a unchanged 1", "c created 1");

        assertThat(SERVER.get(key, "/v1/schedules/b").at("/when/cron")).isEqualTo("0 3 * * *");
        assertThat(count(
                        "SELECT count(*) FROM carillon.audit WHERE project = ? AND action = 'schedule.put'", "several"))
                .isEqualTo(5);
        assertThat(SERVER.get(key, "/v1/audit?object=schedule/b").at("/items/0/detail/change"))
                .isEqualTo("updated");
    }

    @Test
    void a_rejected_schedule_does_not_stop_the_others() {
        String key = SERVER.createProject("rejecting");
        String over = "{\"name\":\"over\",\"when\":{\"once\":\"2001-01-01T00:00:00Z\"},\"target\":{\"handler\":\"a\"}}";
        String unknown = "{\"name\":\"unknown\",\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"endpoint\":\"none\"}}";

        Reply reply = send(key, List.of(schedule("wrong", "a", "never"), daily("good"), over, unknown));

        assertThat(changes(reply))
                .containsExactly("wrong cron-syntax", "good created 1", "over no-instants", "unknown invalid-request");
        assertThat(reply.at("/items/0/error/errors/0/pointer")).isEqualTo("/when/cron");
        assertThat(reply.at("/items/3/error/errors/0/pointer")).isEqualTo("/target/endpoint");
        assertThat(count("SELECT count(*) FROM carillon.schedule WHERE project = ?", "rejecting"))
                .isEqualTo(1);
        assertThat(count(
                        "SELECT count(*) FROM carillon.audit WHERE project = ? AND action = 'schedule.put'",
                        "rejecting"))
                .isEqualTo(1);
    }

    @Test
    void names_must_be_valid_and_different() {
        String key = SERVER.createKey("manage");

        assertThat(send(key, List.of(daily("x"), daily("x"))).requireStatus(422).at("/errors/0/pointer"))
                .isEqualTo("/schedules/1/name");
        assertThat(send(key, List.of(daily("x"), daily("X Y")))
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/schedules/1/name");
        assertThat(send(key, List.of()).requireStatus(422).at("/errors/0/pointer"))
                .isEqualTo("/schedules");
        SERVER.get(key, "/v1/schedules/x").requireStatus(404);
    }

    @Test
    void the_quota_admits_some_of_the_new_schedules() {
        String key = SERVER.createProject("limited");
        SERVER.put(SERVER.bootstrap(), "/v1/projects/limited/quota", "{\"maxSchedules\":3}")
                .requireStatus(200);
        send(key, List.of(daily("m"))).requireStatus(200);

        List<String> results = changes(
                send(key, List.of(daily("z"), daily("b"), schedule("m", "a", "0 3 * * *"), daily("y"), daily("a"))));

        assertThat(results)
                .containsExactly("z quota-exceeded", "b created 1", "m updated 2", "y quota-exceeded", "a created 1");
        assertThat(changes(send(key, List.of(daily("m"), daily("n")))))
                .containsExactly("m updated 3", "n quota-exceeded");
    }

    @Test
    void a_restricted_key_changes_only_what_it_may_see() {
        String admin = SERVER.createProject("restricted");
        String key = SERVER.post(
                        admin, "/v1/keys", "{\"name\":\"r\",\"scopes\":[\"manage\"],\"handlers\":[\"mine.*\"]}")
                .requireStatus(201)
                .at("/key");
        send(admin, List.of(schedule("theirs", "other", "0 2 * * *"), schedule("own", "mine.a", "0 2 * * *")))
                .requireStatus(200);

        List<String> results = changes(send(
                key,
                List.of(
                        schedule("own", "mine.a", "0 3 * * *"),
                        schedule("theirs", "mine.a", "0 3 * * *"),
                        schedule("new", "other", "0 3 * * *"),
                        schedule("fresh", "mine.b", "0 3 * * *"))));

        assertThat(results).containsExactly("own updated 2", "theirs forbidden", "new forbidden", "fresh created 1");
        assertThat(SERVER.get(admin, "/v1/schedules/theirs").at("/target/handler"))
                .isEqualTo("other");
        SERVER.get(admin, "/v1/schedules/new").requireStatus(404);
    }

    @Test
    void a_repeated_request_gets_the_same_results() {
        String key = SERVER.createProject("repeating");

        Reply first = send(key, List.of(daily("a")), "Idempotency-Key", "k");
        Reply second = send(key, List.of(daily("a")), "Idempotency-Key", "k");

        assertThat(second.text()).isEqualTo(first.text());
        assertThat(second.header("Idempotency-Replayed")).contains("true");
        assertThat(changes(send(key, List.of(daily("a"))))).containsExactly("a unchanged 1");
    }

    @Test
    void two_batches_with_the_same_schedules_in_opposite_order_create_and_change_each_once() {
        String key = SERVER.createProject("racing");
        // A batch holds the locks of the schedules that it changes until its commit, so the second race is smaller.
        race(key, "0 2 * * *", 100, " created ");
        race(key, "0 3 * * *", 10, " updated ");

        assertThat(count("SELECT count(*) FROM carillon.schedule WHERE version = 2 AND project = ?", "racing"))
                .isEqualTo(10);
    }

    private static void race(String key, String cron, int size, String change) {
        List<String> schedules = new ArrayList<>(IntStream.range(0, size)
                .mapToObj(i -> schedule("s%03d".formatted(i), "a", cron))
                .toList());
        List<String> reversed = new ArrayList<>(schedules);
        Collections.reverse(reversed);

        List<CompletableFuture<List<String>>> batches = List.of(schedules, reversed).stream()
                .map(batch -> CompletableFuture.supplyAsync(() -> changes(send(key, batch))))
                .toList();

        List<String> all =
                batches.stream().flatMap(batch -> batch.join().stream()).toList();
        assertThat(all).hasSize(2 * size);
        assertThat(all).filteredOn(result -> result.contains(change)).hasSize(size);
        assertThat(all).filteredOn(result -> result.contains(" unchanged ")).hasSize(size);
    }
}
