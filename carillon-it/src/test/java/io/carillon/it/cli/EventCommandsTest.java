package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.it.cli.RemoteServer.CommandResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code carillon event} and {@code carillon subscription} against a running server with a node. */
class EventCommandsTest {
    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    @TempDir
    Path folder;

    private static CommandResult runSuccessfully(String... words) {
        CommandResult result = SERVER.run(words);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result;
    }

    private static String published(String topic, String... more) {
        String[] words = new String[more.length + 6];
        System.arraycopy(new String[] {"event", "publish", topic, "order.placed", "-o", "name"}, 0, words, 0, 6);
        System.arraycopy(more, 0, words, 6, more.length);
        return runSuccessfully(words).out().strip();
    }

    @Test
    void an_event_is_published_listed_and_shown_with_its_deliveries() {
        runSuccessfully("subscription", "create", "mailer", "--topic", "shown", "--handler", "fine", "--in-order");
        String event = published(
                "shown", "--key", "17", "--data", "{\"amount\":1.10}", "--header", "tenant=acme", "--header", "a=b=c");
        assertThat(event).startsWith("evt_");

        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(
                        () -> assertThat(runSuccessfully("event", "get", event).out())
                                .contains("SUBSCRIPTION", "mailer", "succeeded")
                                .contains("topic", "shown", "\"amount\":1.10", "a: b=c", "tenant: acme"));
        assertThat(runSuccessfully("event", "list", "shown").out()).contains("TYPE", "order.placed", "17");
        assertThat(runSuccessfully("event", "list", "shown", "--key", "18", "-o", "name")
                        .out())
                .isBlank();
        assertThat(runSuccessfully("event", "topics").out()).contains("LAST MINUTE", "shown");
        assertThat(SERVER.run("event", "get", "evt_00000000000000000000000000").exitCode())
                .isEqualTo(3);
    }

    @Test
    void a_list_from_an_instant_prints_where_the_next_one_continues() {
        String first = published("continued");
        String position = await().atMost(Duration.ofSeconds(30))
                .until(
                        () -> {
                            CommandResult listed =
                                    runSuccessfully("event", "list", "continued", "--from", "2020-01-01T00:00:00Z");
                            return listed.out().contains(first)
                                    ? listed.err().strip().substring("The next list: --after ".length())
                                    : null;
                        },
                        found -> found != null);
        String second = published("continued");

        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(
                                runSuccessfully("event", "list", "continued", "--after", position, "-o", "name")
                                        .out()
                                        .strip())
                        .isEqualTo(second));
        assertThat(SERVER.run("event", "list", "continued", "--after", "x", "--from", "2020-01-01T00:00:00Z")
                        .exitCode())
                .isEqualTo(2);
    }

    @Test
    @Timeout(60)
    void a_tail_prints_later_events_and_stops_after_a_number_of_them() {
        CompletableFuture<CommandResult> tail = CompletableFuture.supplyAsync(
                () -> SERVER.run("event", "tail", "tailed", "--type", "order.*", "--count", "1"));
        // The tail may begin at any time; it prints the first event after that.
        await().atMost(Duration.ofSeconds(50))
                .pollInterval(Duration.ofMillis(300))
                .until(() -> {
                    if (!tail.isDone()) published("tailed", "--data", "\"wanted\"");
                    return tail.isDone();
                });

        assertThat(tail.join().exitCode()).as(tail.join().err()).isZero();
        assertThat(tail.join().out().lines()).hasSize(1);
        assertThat(tail.join().out()).contains("order.placed", "\"wanted\"");
    }

    @Test
    void a_publish_id_and_an_expected_version_keep_an_event_from_being_stored_twice() {
        String event = published("once", "--publish-id", "p");
        assertThat(runSuccessfully("event", "publish", "once", "order.placed", "--publish-id", "p")
                        .out())
                .isEqualTo(event + " already has this publish id; nothing was published.\n");
        String[] command = {"event", "publish", "stock", "counted", "--key", "k", "--expected-version", "0"};
        runSuccessfully(command);

        CommandResult conflict = SERVER.run(command);

        assertThat(conflict.exitCode()).isEqualTo(5);
        assertThat(conflict.err()).contains("has version 1, not 0");
    }

    @Test
    void the_events_of_a_file_are_published_in_their_order() throws IOException {
        Path file = folder.resolve("events.json");
        Files.writeString(
                file,
                "[{\"topic\":\"filed\",\"type\":\"a\",\"key\":\"1\"},"
                        + "{\"topic\":\"filed\",\"type\":\"a\",\"key\":\"2\"}]");

        assertThat(runSuccessfully("event", "publish-all", "-f", file.toString())
                        .out())
                .isEqualTo("Published 2 events; 0 existed.\n");

        assertThat(runSuccessfully("event", "list", "filed", "-o", "json")
                        .json()
                        .at("/0/key")
                        .stringValue(""))
                .isEqualTo("2");
        Files.writeString(file, "{}");
        assertThat(SERVER.run("event", "publish-all", "-f", file.toString()).err())
                .contains("must contain a JSON array of events");
    }

    @Test
    void a_subscription_is_paused_changed_replayed_and_deleted() {
        assertThat(runSuccessfully(
                                "subscription",
                                "create",
                                "life",
                                "--topic",
                                "lived",
                                "--type",
                                "order.*,x",
                                "--handler",
                                "fine")
                        .out())
                .isEqualTo("Created life.\n");
        assertThat(SERVER.run("subscription", "create", "life", "--topic", "lived", "--handler", "fine")
                        .exitCode())
                .isEqualTo(5);
        runSuccessfully("subscription", "pause", "life", "--reason", "moving");
        String event = published("lived");
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(
                        () -> assertThat(runSuccessfully("subscription", "list").out())
                                .containsPattern("life +paused: moving +1 "));
        runSuccessfully("subscription", "skip", "life", event);
        runSuccessfully("subscription", "resume", "life");
        assertThat(runSuccessfully("subscription", "update", "life", "--in-order", "--type", "*")
                        .out())
                .isEqualTo("Changed life.\n");
        CommandResult shown = runSuccessfully("subscription", "get", "life", "-o", "json");
        assertThat(shown.json().path("inOrder").booleanValue(false)).isTrue();
        assertThat(shown.json().at("/types/0").stringValue("")).isEqualTo("*");
        runSuccessfully(
                "subscription", "replay", "life", "--from", "2020-01-01T00:00:00Z", "--to", "2999-01-01T00:00:00Z");
        runSuccessfully("subscription", "delete", "life");
        assertThat(SERVER.run("subscription", "get", "life").exitCode()).isEqualTo(3);
    }

    @Test
    void a_relay_is_listed_shown_and_its_rejected_event_is_decided() {
        String event = published("relayed", "--key", "17");
        SERVER.database()
                .execute("INSERT INTO carillon.event_relay (project, name, topic, destination, cursor_snapshot,"
                        + " cursor_seq)"
                        + " VALUES ('default', 'to-kafka', 'relayed', 'kafka:relayed', 0, 9223372036854775807);"
                        + " INSERT INTO carillon.event_relay_held (project, relay, snapshot, seq, event, day,"
                        + " key, state, blocks, reason)"
                        + " SELECT project, 'to-kafka', 1, seq, id, day, key, 'rejected', true, 'too large'"
                        + " FROM carillon.event_store WHERE topic = 'relayed';"
                        + " INSERT INTO carillon.event_source (project, name, part, next_position)"
                        + " VALUES ('default', 'from-kafka', 'bank-0', 7)");

        assertThat(runSuccessfully("relay", "list").out())
                .contains("STATE", "to-kafka", "without-node", "kafka:relayed", "LAG");
        assertThat(runSuccessfully("relay", "get", "to-kafka").out()).contains("position", event, "too large");
        assertThat(runSuccessfully("relay", "sources").out()).contains("from-kafka", "bank-0", "7");
        assertThat(runSuccessfully("relay", "skip", "to-kafka", event).out())
                .isEqualTo("to-kafka skips %s.\n".formatted(event));
        assertThat(SERVER.run("relay", "retry", "to-kafka", event).err()).contains("not among the rejected ones");
        assertThat(runSuccessfully("relay", "delete", "to-kafka").out()).contains("Deleted to-kafka");
        assertThat(SERVER.run("relay", "get", "to-kafka").exitCode()).isEqualTo(3);
    }

    @Test
    void a_schedule_publishes_an_event() {
        assertThat(runSuccessfully(
                                "schedule",
                                "create",
                                "nightly",
                                "--every",
                                "1d",
                                "--event",
                                "books/closed",
                                "--event-key",
                                "eu",
                                "--header",
                                "tenant=acme",
                                "--payload",
                                "{\"a\":1}")
                        .out())
                .startsWith("Created nightly");
        assertThat(runSuccessfully("schedule", "list").out()).contains("event books/closed");
        assertThat(runSuccessfully("schedule", "get", "nightly", "-o", "yaml").out())
                .contains("topic: books", "type: closed", "key: eu", "tenant: acme");
        runSuccessfully("schedule", "trigger", "nightly");

        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(runSuccessfully("event", "list", "books", "-o", "json")
                                .json()
                                .at("/0/key")
                                .stringValue(""))
                        .isEqualTo("eu"));
    }

    @ParameterizedTest
    @CsvSource({
        "'subscription create a --handler fine', --topic is required",
        "'subscription create a --topic t', Give exactly one of --handler and --endpoint",
        "'subscription create a --topic t --handler fine --mode binary', --mode needs --endpoint",
        "'subscription create a --topic t --endpoint e --mode xml', --mode must be one of",
        "'schedule create a --every 1d --event orders', --event must be a topic and a type",
        "'schedule create a --every 1d --handler h --event-key k', --event-key needs --event",
        "'event list t --limit 201', --limit must be at most 200",
        "'event publish t T!', not valid"
    })
    void invalid_options_are_explained(String command, String message) {
        CommandResult refused = SERVER.run(command.split(" "));
        assertThat(refused.exitCode()).as(refused.out()).isEqualTo(2);
        assertThat(refused.err()).contains(message);
    }
}
