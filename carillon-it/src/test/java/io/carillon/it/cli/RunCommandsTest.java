package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

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

        RemoteServer.CommandResult waited = SERVER.run("run", "wait", run, "--for", "30s");
        assertThat(waited.exitCode()).isEqualTo(10);
        assertThat(waited.out()).isEqualTo(run + " dead: java.lang.IllegalStateException: broken on purpose\n");

        assertThat(SERVER.run("run", "attempts", run).out())
                .contains("OUTCOME", "broken on purpose")
                .containsPattern("\n1 +failed +")
                .containsPattern("\n2 +dead +\\S.*IllegalStateException: broken on purpose\n")
                .doesNotContain("\\n", "\\t", "?");
        assertThat(SERVER.run("run", "attempts", run, "-o", "json").json()).hasSize(1);
        assertThat(SERVER.run("run", "explain", run).out())
                .containsOnlyOnce("broken on purpose")
                .endsWith("\n'carillon run get %1$s' shows its error\n'carillon run redrive %1$s' runs it again\n"
                        .formatted(run));
        RemoteServer.CommandResult again = SERVER.run("run", "redrive", run);
        assertThat(again.out()).startsWith("Redriven as run_");
        assertThat(SERVER.run("run", "redrive", run).exitCode()).isEqualTo(5);
    }

    @Test
    void a_run_has_retries_of_its_own_and_shows_its_last_error_while_it_waits() {
        String[] retries = {"--attempts", "5", "--retry-first", "2h", "--retry-cap", "3h", "--retry-jitter", "0"};
        String run =
                enqueue(with(retries, "broken", "--queue", "late", "--retry-factor", "3", "--attempt-timeout", "30s"));

        await().until(() -> shown(run).has("lastError"));

        assertThat(shown(run).path("retry").toString())
                .isEqualTo("{\"attempts\":5,\"first\":\"PT2H\",\"factor\":3.0,\"cap\":\"PT3H\",\"jitter\":0.0}");
        assertThat(shown(run).path("timeout").asString()).isEqualTo("PT30S");
        assertThat(SERVER.run("run", "get", run).out()).contains("failures", "readyAt", "broken on purpose");
        assertThat(SERVER.run("run", "list", "--queue", "late").out())
                .startsWith("ID")
                .containsPattern("STATE +TARGET +QUEUE +ATTEMPT +WHEN +REASON\n")
                .containsPattern("waiting +broken +late +1 +retry in [12] h +IllegalStateException: broken on purpose");
        assertThat(SERVER.run("run", "explain", run).out())
                .contains("it is ready at", "1 attempt failed, the last one with: ", "broken on purpose");
        assertThat(SERVER.run("run", "enqueue", "fine", "--attempts", "0").err())
                .contains("/retry/attempts");
        assertThat(SERVER.run("run", "enqueue", "fine", "--attempt-timeout", "soon")
                        .err())
                .contains("/timeout");
    }

    private static JsonNode shown(String run) {
        return SERVER.run("run", "get", run, "-o", "json").json();
    }

    private static String[] with(String[] more, String... words) {
        return Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new);
    }

    @Test
    void an_error_is_shown_with_its_message_its_own_frames_and_the_next_step() {
        String run = enqueue("broken");
        SERVER.run("run", "wait", run, "--for", "30s");

        String shown = SERVER.run("run", "get", run).out();

        assertThat(shown)
                .containsPattern("reason +java.lang.IllegalStateException: broken on purpose\n")
                .containsPattern(
                        "next step +'carillon run redrive %s' runs it again\n +'carillon run attempts %s' lists"
                                .formatted(run, run));
        assertThat(shown.lines().map(String::strip))
                .anyMatch(line -> line.startsWith("at io.carillon.it.cli.RemoteServer."))
                .anyMatch(line -> line.matches("\\.\\.\\. \\d+ more frames \\(--wide shows them\\)"))
                .noneMatch(line -> line.contains("io.carillon.internal") || line.contains("io.carillon.Carillon"));
        assertThat(shown).containsPattern("endedAt +20\\S+Z  \\((now|\\d+ s ago)\\)");
        assertThat(SERVER.run("run", "get", run, "--wide").out()).contains("at io.carillon.internal");
        assertThat(SERVER.run("run", "get", run, "-o", "json")
                        .json()
                        .path("reason")
                        .stringValue())
                .contains("\n\tat io.carillon.internal");
    }

    @Test
    void the_payload_of_a_dead_run_is_shown_without_secrets_and_corrected_by_a_redrive() {
        String run = enqueue("broken", "--payload", "{\"password\":\"p-1\",\"n\":1}");
        SERVER.run("run", "wait", run, "--for", "30s");

        assertThat(SERVER.run("run", "get", run).out())
                .containsPattern("payload +\\{\"password\":\"\\[redacted]\",\"n\":1}");
        RemoteServer.CommandResult again =
                SERVER.run("run", "redrive", run, "--payload", "{\"password\":\"[redacted]\",\"n\":2}", "-o", "name");

        assertThat(again.exitCode()).as(again.err()).isZero();
        String fresh = again.out().strip();
        SERVER.run("run", "wait", fresh, "--for", "30s");
        assertThat(SERVER.run("run", "get", fresh, "-o", "json")
                        .json()
                        .at("/payload/n")
                        .intValue())
                .isEqualTo(2);
        assertThat(SERVER.run("run", "redrive", fresh, "--payload", "{").exitCode())
                .isEqualTo(2);
    }

    @Test
    void a_run_is_executed_only_if_it_is_due() {
        String later = enqueue("fine", "--after", "1h");
        RemoteServer.CommandResult early = SERVER.run("run", "execute", later);
        assertThat(early.exitCode()).isEqualTo(5);
        assertThat(early.out()).startsWith(later + " is not due before 20");
        String ended = enqueue("fine");
        SERVER.run("run", "wait", ended, "--for", "30s");
        RemoteServer.CommandResult late = SERVER.run("run", "execute", ended);
        assertThat(late.exitCode()).isZero();
        assertThat(late.out()).isEqualTo(ended + " has ended: succeeded.\n");
        String foreign = enqueue("of-another-process");
        assertThat(SERVER.run("run", "execute", foreign).err()).contains("no handler 'of-another-process'");
        assertThat(SERVER.run("run", "execute", "run_00000000000000000000000000")
                        .exitCode())
                .isEqualTo(3);
    }

    @Test
    void a_waiting_run_is_explained_once() {
        String run = enqueue("fine", "--at", LATER);

        String explained = SERVER.run("run", "explain", run).out();

        assertThat(explained).startsWith("It waits: it is ready at 2099-").containsOnlyOnce("2099-");
    }

    @Test
    void a_list_shows_the_runs_that_ended_last_first_and_planned_ticks_apart() {
        String older = enqueue("fine", "--queue", "ordered");
        SERVER.run("run", "wait", older, "--for", "30s");
        String later = enqueue("fine", "--queue", "ordered", "--at", LATER);
        String last = enqueue("fine", "--queue", "ordered");
        SERVER.run("run", "wait", last, "--for", "30s");
        SERVER.run("run", "reschedule", later, "--at", Instant.now().toString());
        SERVER.run("run", "wait", later, "--for", "30s");
        SERVER.run("schedule", "create", "often", "--every", "5s", "--handler", "fine", "--queue", "ordered");
        await().atMost(Duration.ofSeconds(30))
                .until(() -> SERVER.run("run", "list", "--queue", "ordered", "--state", "waiting", "-o", "json")
                                .json()
                                .size()
                        > 10);

        String list =
                SERVER.run("run", "list", "--queue", "ordered", "--limit", "3").out();
        SERVER.run("schedule", "delete", "often");

        assertThat(list)
                .containsSubsequence(later, last)
                .containsPattern("succeeded +fine +ordered +1 +(now|\\d+ s ago)");
        assertThat(SERVER.run("run", "list", "--handler", "fine", "--state", "succeeded", "--queue", "fine")
                        .out())
                .doesNotContain("QUEUE", "REASON");
        assertThat(list.substring(list.indexOf("\nPLANNED TICKS\n")))
                .contains("in ", "and more; --state waiting lists them")
                .doesNotContain(later);
        assertThat(list.substring(list.indexOf("\nPLANNED TICKS\n")).lines()).hasSize(9);
    }

    @Test
    void a_run_that_ended_last_is_first_even_if_many_were_created_after_it() {
        String oldest = enqueue("fine", "--queue", "mixed", "--after", "2s");
        for (int i = 0; i < 3; i++) enqueue("fine", "--queue", "mixed");
        SERVER.run("run", "wait", oldest, "--for", "30s");

        RemoteServer.CommandResult two = SERVER.run("run", "list", "--queue", "mixed", "--limit", "2");

        assertThat(two.out().lines()).hasSize(3).element(1).asString().startsWith(oldest);
        assertThat(two.err()).isEqualTo("More than 2 items exist; use --limit to print more.\n");
    }

    @Test
    void a_list_of_one_state_shows_the_latest_end_and_the_earliest_start_first() {
        String longest = enqueue("broken", "--queue", "sorted", "--after", "2s");
        String shortest = enqueue("broken", "--queue", "sorted");
        SERVER.run("run", "wait", shortest, "--for", "30s");
        SERVER.run("run", "wait", longest, "--for", "30s");
        String sooner = enqueue("fine", "--queue", "sorted", "--at", "2098-01-01T00:00:00Z");
        String later = enqueue("fine", "--queue", "sorted", "--at", LATER);

        assertThat(SERVER.run("run", "list", "--queue", "sorted", "--state", "dead")
                        .out())
                .containsSubsequence(longest, shortest);
        assertThat(SERVER.run("run", "list", "--queue", "sorted", "--state", "waiting")
                        .out())
                .containsSubsequence(sooner, later);
    }

    @Test
    void a_list_says_why_a_waiting_run_is_parked() {
        enqueue("not.deployed");

        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(SERVER.run("run", "list", "--handler", "not.deployed")
                                .out())
                        .containsPattern("waiting +not.deployed +\\d +due .* no live node has its handler\n"));
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
        assertThat(SERVER.run("run", "reschedule", run, "--at", LATER).err())
                .contains("The run is cancelled. Only a waiting run can be rescheduled.");
    }

    @Test
    void lists_stop_at_the_limit_and_report_that_more_items_exist() {
        for (int i = 0; i < 3; i++) enqueue("fine", "--at", LATER, "--queue", "many");

        RemoteServer.CommandResult two = SERVER.run("run", "list", "--queue", "many", "--limit", "2", "-o", "json");

        assertThat(two.json()).hasSize(2);
        assertThat(two.err()).contains("More than 2 items exist");
        assertThat(SERVER.run("run", "list", "--queue", "many", "--limit", "1", "-o", "name")
                        .err())
                .isEmpty();
        assertThat(SERVER.run("run", "list", "--queue", "many", "--limit", "300", "-o", "json")
                        .json())
                .hasSize(3);
    }

    @Test
    void missing_runs_and_invalid_options_are_rejected() {
        RemoteServer.CommandResult unknown = SERVER.run("run", "get", "run_unknown");
        assertThat(unknown.exitCode()).isEqualTo(3);
        assertThat(unknown.err())
                .contains("The run 'run_unknown' does not exist. 'carillon run list' shows those that exist.");
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
        assertThat(SERVER.run("bulk", "cancel", "--state", "dead").err())
                .startsWith("carillon: Runs in state dead cannot be cancelled. Set the state running or waiting.");
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
        assertThat(SERVER.run("bulk", "redrive", "--state", "dead", "--queue", "failing")
                        .err())
                .contains("1 run matches and would be redriven.");

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
