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

    private static String enqueue(String... more) {
        String[] words = new String[more.length + 4];
        words[0] = "run";
        words[1] = "enqueue";
        words[2] = "-o";
        words[3] = "name";
        System.arraycopy(more, 0, words, 4, more.length);
        RemoteServer.CommandResult made = SERVER.run(words);
        assertThat(made.exitCode()).as(made.err()).isZero();
        return made.out().strip();
    }

    @Test
    void enqueues_waits_for_the_end_and_shows_the_run() {
        String run = enqueue("fine", "--payload", "{\"id\":7}");

        RemoteServer.CommandResult waited = SERVER.run("run", "wait", run, "--for", "30s");

        assertThat(waited.exitCode()).as(waited.err()).isZero();
        assertThat(waited.out()).isEqualTo(run + " succeeded.\n");
        assertThat(SERVER.run("run", "get", run).out()).contains("succeeded");
        assertThat(SERVER.run("run", "list", "--state", "succeeded", "--handler", "fine", "-o", "name")
                        .out())
                .contains(run);
        assertThat(SERVER.run("run", "cancel", run).exitCode()).isEqualTo(5);
        assertThat(SERVER.run("run", "cancel", run).err()).contains("cannot be cancelled");
    }

    @Test
    void a_dead_run_sets_the_exit_code_and_is_explained_and_redriven() {
        String run = enqueue("broken");

        assertThat(SERVER.run("run", "wait", run, "--for", "30s").exitCode()).isEqualTo(10);

        assertThat(SERVER.run("run", "attempts", run).out()).contains("OUTCOME", "broken on purpose");
        assertThat(SERVER.run("run", "explain", run).out()).isNotBlank();
        RemoteServer.CommandResult again = SERVER.run("run", "redrive", run);
        assertThat(again.out()).startsWith("Redriven as run_");
        assertThat(SERVER.run("run", "redrive", run).exitCode()).isEqualTo(5);
    }

    @Test
    void reschedules_and_cancels_waiting_runs_and_rejects_a_duplicate_key() {
        String run = enqueue("fine", "--at", LATER, "--key", "order-7", "--queue", "mail", "--priority", "high");

        RemoteServer.CommandResult second = SERVER.run("run", "enqueue", "fine", "--key", "order-7", "--queue", "mail");
        assertThat(second.out()).isEqualTo(run + " already has the unique key; nothing was enqueued.\n");
        assertThat(SERVER.run("run", "reschedule", run, "--at", "2099-02-01T00:00:00Z")
                        .out())
                .isEqualTo(run + " is due at 2099-02-01T00:00:00Z.\n");
        assertThat(SERVER.run("run", "wait", run, "--for", "1ms").exitCode()).isEqualTo(6);
        assertThat(SERVER.run("run", "cancel", run, "--reason", "not wanted").out())
                .isEqualTo("Cancelled " + run + ".\n");
        assertThat(SERVER.run("run", "get", run, "-o", "json")
                        .json()
                        .path("state")
                        .stringValue())
                .isEqualTo("cancelled");
    }

    @Test
    void lists_stop_at_the_limit_and_report_that_more_items_exist() {
        for (int i = 0; i < 3; i++) enqueue("fine", "--at", LATER, "--queue", "many");

        RemoteServer.CommandResult two = SERVER.run("run", "list", "--queue", "many", "--limit", "2", "-o", "json");

        assertThat(two.json()).hasSize(2);
        assertThat(two.err()).contains("More than 2 items exist");
        assertThat(SERVER.run("run", "list", "--queue", "many", "--limit", "300", "-o", "json")
                        .json())
                .hasSize(3);
    }

    @Test
    void missing_runs_and_invalid_options_are_rejected() {
        assertThat(SERVER.run("run", "get", "run_unknown").exitCode()).isEqualTo(3);
        assertThat(SERVER.run("run", "explain", "run_unknown").exitCode()).isEqualTo(3);
        assertThat(SERVER.run("run", "enqueue").exitCode()).isEqualTo(2);
        assertThat(SERVER.run("run", "enqueue", "fine", "--at", "tomorrow").err())
                .contains("/at: This must be an instant");
        assertThat(SERVER.run("run", "list", "--state", "lost").exitCode()).isEqualTo(2);
    }

    @Test
    void a_key_window_keeps_a_unique_key_taken_and_a_rate_key_delays_runs() {
        String run = enqueue("fine", "--key", "once-an-hour", "--key-window", "1h");
        assertThat(SERVER.run("run", "wait", run, "--for", "30s").exitCode()).isZero();
        String[] rate = {"fine", "--rate-key", "acme", "--rate-starts", "1", "--rate-in", "1h"};

        assertThat(SERVER.run("run", "enqueue", "fine", "--key", "once-an-hour", "--key-window", "1h")
                        .out())
                .contains("already has the unique key");
        String first = enqueue(rate);
        String second = enqueue(rate);
        assertThat(SERVER.run("run", "wait", first, "--for", "30s").exitCode()).isZero();
        assertThat(SERVER.run("run", "explain", second).out()).contains("acme");
        assertThat(SERVER.run("run", "enqueue", "fine", "--rate-key", "acme").err())
                .contains("/rateStarts");
        assertThat(SERVER.run("run", "enqueue", "fine", "--priority", "hihg").err())
                .contains("Did you mean 'high'?");
    }

    @Test
    void enqueues_a_file_of_payloads_a_thousand_at_a_time() throws Exception {
        Path file = Files.writeString(folder.resolve("payloads.json"), "[" + "{},".repeat(1_200) + "{}]");
        Path wrong = Files.writeString(folder.resolve("wrong.json"), "{}");

        RemoteServer.CommandResult made =
                SERVER.run("run", "enqueue-all", "fine", "-f", file.toString(), "--at", LATER, "--queue", "large");

        assertThat(made.out()).as(made.err()).isEqualTo("Enqueued 1201 runs.\n");
        assertThat(SERVER.run("bulk", "count", "--state", "waiting", "--queue", "large")
                        .out())
                .isEqualTo("1201\n");
        assertThat(SERVER.run("run", "enqueue-all", "fine", "-f", wrong.toString())
                        .err())
                .contains("must contain a JSON array of payloads");
        assertThat(SERVER.run("run", "enqueue-all", "fine", "-f", file.toString(), "--key", "k")
                        .exitCode())
                .isEqualTo(2);
    }

    @Test
    void bulk_counts_requires_confirmation_and_changes_all_matching_runs() {
        for (int i = 0; i < 3; i++) enqueue("fine", "--at", LATER, "--queue", "bulk");
        String[] filter = {"--state", "waiting", "--queue", "bulk"};

        assertThat(SERVER.run("bulk", "count", filter[0], filter[1], filter[2], filter[3])
                        .out())
                .isEqualTo("3\n");
        RemoteServer.CommandResult result = SERVER.run("bulk", "cancel", filter[0], filter[1], filter[2], filter[3]);
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("3 runs match", "--yes");
        assertThat(SERVER.run(
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
        assertThat(SERVER.run("bulk", "cancel", "--yes", filter[0], filter[1], filter[2], filter[3])
                        .out())
                .isEqualTo("3 runs were cancelled.\n");
        assertThat(SERVER.run("bulk", "count", filter[0], filter[1], filter[2], filter[3])
                        .out())
                .isEqualTo("0\n");
    }

    @Test
    void bulk_redrives_and_deletes_dead_runs() {
        String first = enqueue("broken", "--queue", "failing");
        assertThat(SERVER.run("run", "wait", first, "--for", "30s").exitCode()).isEqualTo(10);

        RemoteServer.CommandResult redriven =
                SERVER.run("bulk", "redrive", "--state", "dead", "--queue", "failing", "--yes", "-o", "json");
        assertThat(redriven.json().path("done").longValue()).isPositive();
        assertThat(SERVER.run("bulk", "delete", "--state", "dead", "--queue", "nothing-here", "--yes")
                        .out())
                .isEqualTo("0 runs were deleted.\n");
        RemoteServer.CommandResult begun = SERVER.run(
                "bulk", "delete", "--state", "dead", "--queue", "nothing-here", "--yes", "--no-wait", "-o", "name");
        String id = begun.out().strip();
        assertThat(id).startsWith("blk_");
        assertThat(SERVER.run("bulk", "list", "-o", "name").out()).contains(id);
        await().atMost(Duration.ofSeconds(20))
                .until(() -> SERVER.run("bulk", "get", id, "-o", "json")
                        .json()
                        .path("state")
                        .stringValue("")
                        .equals("done"));
        RemoteServer.CommandResult late = SERVER.run("bulk", "abort", id);
        assertThat(late.exitCode()).isEqualTo(5);
        assertThat(late.err()).contains("already ended");
        assertThat(SERVER.run("bulk", "delete", "--state", "waiting", "--yes").exitCode())
                .isEqualTo(2);
    }
}
