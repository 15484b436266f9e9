package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** {@code carillon run} and {@code carillon bulk} against a running server. */
class RunCommandsTest {
    private static final String LATER = "2099-01-01T00:00:00Z";

    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    @TempDir
    Path folder;

    private static String enqueued(String... more) {
        String[] words = new String[more.length + 4];
        words[0] = "run";
        words[1] = "enqueue";
        words[2] = "-o";
        words[3] = "name";
        System.arraycopy(more, 0, words, 4, more.length);
        RemoteServer.Called made = SERVER.carillon(words);
        assertThat(made.exit()).as(made.err()).isZero();
        return made.out().strip();
    }

    @Test
    void enqueues_waits_for_the_end_and_shows_it() {
        String run = enqueued("fine", "--payload", "{\"id\":7}");

        RemoteServer.Called waited = SERVER.carillon("run", "wait", run, "--for", "30s");

        assertThat(waited.exit()).as(waited.err()).isZero();
        assertThat(waited.out()).isEqualTo(run + " succeeded.\n");
        assertThat(SERVER.carillon("run", "get", run).out()).contains("succeeded");
        assertThat(SERVER.carillon("run", "list", "--state", "succeeded", "--handler", "fine", "-o", "name")
                        .out())
                .contains(run);
        assertThat(SERVER.carillon("run", "cancel", run).exit()).isEqualTo(5);
        assertThat(SERVER.carillon("run", "cancel", run).err()).contains("nothing to cancel");
    }

    @Test
    void a_run_that_dies_is_told_by_its_exit_code_explained_and_redriven() {
        String run = enqueued("broken");

        assertThat(SERVER.carillon("run", "wait", run, "--for", "30s").exit()).isEqualTo(10);

        assertThat(SERVER.carillon("run", "attempts", run).out()).contains("OUTCOME", "broken on purpose");
        assertThat(SERVER.carillon("run", "explain", run).out()).isNotBlank();
        RemoteServer.Called again = SERVER.carillon("run", "redrive", run);
        assertThat(again.out()).startsWith("Redriven as run_");
        assertThat(SERVER.carillon("run", "redrive", run).exit()).isEqualTo(5);
    }

    @Test
    void moves_and_cancels_what_waits_and_holds_a_key_once() {
        String run = enqueued("fine", "--at", LATER, "--key", "order-7", "--queue", "mail", "--priority", "high");

        RemoteServer.Called second = SERVER.carillon("run", "enqueue", "fine", "--key", "order-7", "--queue", "mail");
        assertThat(second.out()).isEqualTo(run + " holds the key already; nothing was enqueued.\n");
        assertThat(SERVER.carillon("run", "reschedule", run, "--at", "2099-02-01T00:00:00Z")
                        .out())
                .isEqualTo(run + " falls due at 2099-02-01T00:00:00Z.\n");
        assertThat(SERVER.carillon("run", "wait", run, "--for", "1ms").exit()).isEqualTo(6);
        assertThat(SERVER.carillon("run", "cancel", run, "--reason", "not wanted")
                        .out())
                .isEqualTo("Cancelled " + run + ".\n");
        assertThat(SERVER.carillon("run", "get", run, "-o", "json")
                        .json()
                        .path("state")
                        .stringValue())
                .isEqualTo("cancelled");
    }

    @Test
    void lists_stop_at_the_limit_and_say_so() {
        for (int i = 0; i < 3; i++) enqueued("fine", "--at", LATER, "--queue", "many");

        RemoteServer.Called two = SERVER.carillon("run", "list", "--queue", "many", "--limit", "2", "-o", "json");

        assertThat(two.json()).hasSize(2);
        assertThat(two.err()).contains("There are more");
        assertThat(SERVER.carillon("run", "list", "--queue", "many", "--limit", "300", "-o", "json")
                        .json())
                .hasSize(3);
    }

    @Test
    void what_there_is_not_and_what_cannot_be() {
        assertThat(SERVER.carillon("run", "get", "run_nobody").exit()).isEqualTo(3);
        assertThat(SERVER.carillon("run", "explain", "run_nobody").exit()).isEqualTo(3);
        assertThat(SERVER.carillon("run", "enqueue").exit()).isEqualTo(2);
        assertThat(SERVER.carillon("run", "enqueue", "fine", "--at", "tomorrow").err())
                .contains("/at: This must be an instant");
        assertThat(SERVER.carillon("run", "list", "--state", "lost").exit()).isEqualTo(2);
    }

    @Test
    void a_window_keeps_a_key_and_a_rate_holds_runs_back() {
        String run = enqueued("fine", "--key", "once-an-hour", "--key-window", "1h");
        assertThat(SERVER.carillon("run", "wait", run, "--for", "30s").exit()).isZero();
        String[] rate = {"fine", "--rate-key", "acme", "--rate-starts", "1", "--rate-in", "1h"};

        assertThat(SERVER.carillon("run", "enqueue", "fine", "--key", "once-an-hour", "--key-window", "1h")
                        .out())
                .contains("holds the key already");
        String first = enqueued(rate);
        String second = enqueued(rate);
        assertThat(SERVER.carillon("run", "wait", first, "--for", "30s").exit()).isZero();
        assertThat(SERVER.carillon("run", "explain", second).out()).contains("acme");
        assertThat(SERVER.carillon("run", "enqueue", "fine", "--rate-key", "acme")
                        .err())
                .contains("/rateStarts");
        assertThat(SERVER.carillon("run", "enqueue", "fine", "--priority", "hihg")
                        .err())
                .contains("Did you mean 'high'?");
    }

    @Test
    void enqueues_a_file_of_payloads_a_thousand_at_a_time() throws Exception {
        Path file = Files.writeString(folder.resolve("payloads.json"), "[" + "{},".repeat(1_200) + "{}]");
        Path wrong = Files.writeString(folder.resolve("wrong.json"), "{}");

        RemoteServer.Called made =
                SERVER.carillon("run", "enqueue-all", "fine", "-f", file.toString(), "--at", LATER, "--queue", "crowd");

        assertThat(made.out()).as(made.err()).isEqualTo("Enqueued 1201 runs.\n");
        assertThat(SERVER.carillon("bulk", "count", "--state", "waiting", "--queue", "crowd")
                        .out())
                .isEqualTo("1201\n");
        assertThat(SERVER.carillon("run", "enqueue-all", "fine", "-f", wrong.toString())
                        .err())
                .contains("holds no payloads");
        assertThat(SERVER.carillon("run", "enqueue-all", "fine", "-f", file.toString(), "--key", "k")
                        .exit())
                .isEqualTo(2);
    }

    @Test
    void bulk_counts_asks_and_changes_all_that_match() {
        for (int i = 0; i < 3; i++) enqueued("fine", "--at", LATER, "--queue", "bulk");
        String[] filter = {"--state", "waiting", "--queue", "bulk"};

        assertThat(SERVER.carillon("bulk", "count", filter[0], filter[1], filter[2], filter[3])
                        .out())
                .isEqualTo("3\n");
        RemoteServer.Called asked = SERVER.carillon("bulk", "cancel", filter[0], filter[1], filter[2], filter[3]);
        assertThat(asked.exit()).isEqualTo(2);
        assertThat(asked.err()).contains("3 runs match", "--yes");
        assertThat(SERVER.carillon(
                                "bulk",
                                "reschedule",
                                "--yes",
                                "--at",
                                "2099-03-01T00:00:00Z",
                                filter[0],
                                filter[1],
                                filter[2],
                                filter[3])
                        .out())
                .endsWith(" runs were rescheduled.\n");
        assertThat(SERVER.carillon("bulk", "cancel", "--yes", filter[0], filter[1], filter[2], filter[3])
                        .out())
                .isEqualTo("3 runs were cancelled.\n");
        assertThat(SERVER.carillon("bulk", "count", filter[0], filter[1], filter[2], filter[3])
                        .out())
                .isEqualTo("0\n");
    }

    @Test
    void bulk_redrives_and_deletes_the_dead() {
        String first = enqueued("broken", "--queue", "graves");
        assertThat(SERVER.carillon("run", "wait", first, "--for", "30s").exit()).isEqualTo(10);

        RemoteServer.Called redriven =
                SERVER.carillon("bulk", "redrive", "--state", "dead", "--queue", "graves", "--yes", "-o", "json");
        assertThat(redriven.json().path("done").longValue()).isPositive();
        assertThat(SERVER.carillon("bulk", "delete", "--state", "dead", "--queue", "nothing-here", "--yes")
                        .out())
                .isEqualTo("0 runs were deleted.\n");
        RemoteServer.Called begun = SERVER.carillon(
                "bulk", "delete", "--state", "dead", "--queue", "nothing-here", "--yes", "--no-wait", "-o", "name");
        String id = begun.out().strip();
        assertThat(id).startsWith("blk_");
        assertThat(SERVER.carillon("bulk", "list", "-o", "name").out()).contains(id);
        await().atMost(Duration.ofSeconds(20))
                .until(() -> SERVER.carillon("bulk", "get", id, "-o", "json")
                        .json()
                        .path("state")
                        .stringValue("")
                        .equals("done"));
        RemoteServer.Called late = SERVER.carillon("bulk", "abort", id);
        assertThat(late.exit()).isEqualTo(5);
        assertThat(late.err()).contains("ended already");
        assertThat(SERVER.carillon("bulk", "delete", "--state", "waiting", "--yes")
                        .exit())
                .isEqualTo(2);
    }
}
