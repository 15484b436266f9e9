package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.cli.Main;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** {@code carillon schedule} and {@code carillon queue} against a running server. */
class ScheduleCommandsTest {
    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    @TempDir
    Path folder;

    private static RemoteServer.CommandResult schedule(String... words) {
        String[] all = new String[words.length + 1];
        all[0] = "schedule";
        System.arraycopy(words, 0, all, 1, words.length);
        return SERVER.run(all);
    }

    @Test
    void creates_shows_pauses_resumes_and_deletes() {
        RemoteServer.CommandResult made = schedule(
                "create",
                "life",
                "--cron",
                "0 2 * * *",
                "-z",
                "Europe/Paris",
                "--handler",
                "fine",
                "--payload",
                "{\"n\":1.50}");

        assertThat(made.exitCode()).as(made.err()).isZero();
        assertThat(made.out())
                .startsWith("Created life: At 02:00 every day")
                .containsPattern("next run: in \\d+ (h|min) \\(20\\S+Z\\)\\.\n");
        assertThat(schedule("get", "life", "-o", "json").out()).contains("\"n\" : 1.50");
        assertThat(schedule("pause", "life", "--reason", "holiday").out()).isEqualTo("Paused life.\n");
        assertThat(schedule("get", "life").out()).contains("holiday");
        assertThat(schedule("list").out()).contains("NAME", "life ", "holiday");
        assertThat(schedule("resume", "life", "-o", "name").out()).isEqualTo("life\n");
        assertThat(schedule("get", "life", "-o", "yaml").out())
                .startsWith("name: life\n")
                .contains("when:\n  cron: \"0 2 * * *\"\n  zone: Europe/Paris\n");
        assertThat(schedule("delete", "life").out()).isEqualTo("Deleted life.\n");
        assertThat(schedule("get", "life").exitCode()).isEqualTo(3);
    }

    @Test
    void an_unreadable_schedule_is_listed_updated_and_deleted() {
        for (String name : java.util.List.of("mars.a", "mars.b"))
            schedule("create", name, "--cron", "0 2 * * *", "--handler", "fine");
        SERVER.database().execute("UPDATE carillon.schedule SET zone = 'Mars/Olympus' WHERE name LIKE 'mars.%'");

        assertThat(schedule("list").out()).contains("mars.a", "cannot be read: ");
        assertThat(schedule("get", "mars.a").out()).contains("Mars/Olympus");
        RemoteServer.CommandResult half = schedule("update", "mars.a", "--grace", "1m");
        assertThat(half.exitCode()).isEqualTo(2);
        assertThat(half.err()).contains("/when");
        RemoteServer.CommandResult whole = schedule("update", "mars.a", "--cron", "0 3 * * *", "-z", "UTC");
        assertThat(whole.out()).as(whole.err()).isEqualTo("mars.a changed\n");
        assertThat(schedule("delete", "mars.b").out()).isEqualTo("Deleted mars.b.\n");
        assertThat(schedule("delete", "mars.a").exitCode()).isZero();
    }

    @Test
    void an_update_of_an_unreadable_schedule_keeps_its_readable_policies() {
        schedule("create", "venus", "--cron", "0 2 * * *", "--handler", "fine", "--grace", "1h", "--overlap", "skip");
        SERVER.database()
                .execute("UPDATE carillon.schedule SET zone = 'Mars/Olympus', missed = 'run-some', max_runs = 7"
                        + " WHERE name = 'venus'");

        RemoteServer.CommandResult withoutMissed = schedule("update", "venus", "--cron", "0 3 * * *", "-z", "UTC");
        assertThat(withoutMissed.exitCode()).isEqualTo(2);
        assertThat(withoutMissed.err()).contains("'run-some'", "--missed");
        assertThat(schedule("update", "venus", "--cron", "0 3 * * *", "-z", "UTC", "--missed", "skip")
                        .exitCode())
                .isZero();

        assertThat(schedule("get", "venus", "-o", "json").out().replace(" ", ""))
                .contains("\"overlap\":\"skip\"", "\"missed\":\"skip\"", "\"grace\":\"PT1H\"", "\"maxRuns\":7");
        assertThat(schedule("delete", "venus").exitCode()).isZero();
    }

    @Test
    void a_name_that_is_taken_is_rejected_as_a_conflict() {
        assertThat(schedule("create", "taken", "--every", "1h", "--handler", "fine")
                        .exitCode())
                .isZero();

        RemoteServer.CommandResult second = schedule("create", "taken", "--every", "2h", "--handler", "fine");

        assertThat(second.exitCode()).isEqualTo(5);
        assertThat(second.err())
                .contains("Schedule taken already exists", "'carillon schedule update taken' changes parts of it");
        assertThat(schedule("get", "taken", "-o", "json")
                        .json()
                        .at("/when/every/amount")
                        .intValue())
                .isEqualTo(1);
    }

    @Test
    void errors_of_the_server_are_shown_with_pointer_and_advice() {
        RemoteServer.CommandResult wrong = schedule("create", "odd", "--cron", "0 22-2 * * *", "--handler", "fine");

        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err())
                .startsWith("carillon: The range is reversed")
                .contains("Write 22-23,0-2.\n  at /when/cron\n(422 cron-syntax, request req_");
        assertThat(schedule("create", "odd", "--every", "1h", "--handler", "fine", "--grace", "soon")
                        .err())
                .startsWith("carillon: A part of the request is invalid.\n  /grace: This must be a duration")
                .doesNotContain("The field", "\tat ");
    }

    @Test
    void missing_or_contradictory_flags_are_rejected_before_a_request_is_sent() {
        assertThat(schedule("create", "x", "--handler", "fine").err())
                .contains("--cron, --every, --once or --adaptive");
        assertThat(schedule("create", "x", "--every", "1h").err())
                .contains("--handler, --endpoint, --webhook, --event and --target");
        assertThat(schedule("create", "x", "--every", "soon", "--handler", "fine")
                        .err())
                .contains("'soon'", "10s");
        for (String unit : List.of("500ms", "1M", "10S", "2hs"))
            assertThat(schedule("create", "x", "--every", unit, "--handler", "fine")
                            .err())
                    .contains("'" + unit + "'");
        assertThat(schedule("create", "x", "--every", "1h", "--handler", "fine", "--payload", "{n:1}")
                        .err())
                .contains("--payload is not valid JSON");
        assertThat(schedule("apply").exitCode()).isEqualTo(2);
        assertThat(schedule("pauze", "x").err()).contains("Did you mean 'pause'?");
    }

    @Test
    void apply_reads_the_output_of_list_and_reports_what_changed() throws Exception {
        schedule("create", "file.a", "--every", "1h", "--handler", "fine", "--overlap", "skip");
        Path file = folder.resolve("schedules.json");
        String written = schedule("get", "file.a", "-o", "json").out();
        Files.writeString(file, "[" + written + "," + written.replace("file.a", "file.b") + "]");

        assertThat(schedule("apply", "-f", file.toString()).out()).isEqualTo("file.a unchanged\nfile.b created\n");

        Files.writeString(file, written.replace("\"skip\"", "\"allow\""));
        assertThat(schedule("apply", "-f", file.toString()).out()).isEqualTo("file.a changed\n");
        assertThat(schedule("get", "file.a", "-o", "json")
                        .json()
                        .path("overlap")
                        .stringValue())
                .isEqualTo("allow");
    }

    @Test
    void a_rejected_schedule_does_not_stop_the_other_schedules_of_a_file() throws Exception {
        Path file = folder.resolve("some.json");
        Files.writeString(file, """
                [{"name":"some.bad","when":{"cron":"never"},"target":{"handler":"fine"}},
                 {"name":"some.good","when":{"cron":"@daily"},"target":{"handler":"fine"}}]
                """);

        RemoteServer.CommandResult applied = schedule("apply", "--file", file.toString());

        assertThat(applied.exitCode()).isEqualTo(8);
        assertThat(applied.out()).isEqualTo("some.good created\n");
        assertThat(applied.err()).contains("some.bad: ", "/when/cron");
    }

    @Test
    void triggers_backfills_and_shows_the_ledger() {
        schedule("create", "past", "--cron", "0 * * * *", "--handler", "fine");

        String run = schedule("trigger", "past", "-o", "name").out().strip();
        assertThat(run).startsWith("run_");
        assertThat(SERVER.run("run", "wait", run, "--for", "30s").exitCode()).isZero();
        String[] range = {"--from", "2026-05-01T00:00:00Z", "--to", "2026-05-01T02:00:00Z"};
        assertThat(schedule("backfill", "past", range[0], range[1], range[2], range[3], "--dry-run")
                        .out())
                .isEqualTo("3 runs would be created.\n");
        assertThat(schedule("backfill", "past", range[0], range[1], range[2], range[3])
                        .out())
                .isEqualTo("3 runs were created.\n");
        assertThat(schedule("ledger", "past", range[0], range[1], range[2], range[3])
                        .out())
                .contains("FROM", "2026-05-01T01:00:00Z")
                .doesNotContain("COUNT", "TO ");
        JsonNode ran = Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(
                        () -> schedule("get", "past", "-o", "json").json(),
                        shown -> shown.at("/lastRun/state").stringValue("").equals("succeeded"));
        String lastRun = ran.at("/lastRun/run").stringValue();
        assertThat(lastRun).startsWith("run_");
        assertThat(Instant.parse(ran.path("createdAt").stringValue()))
                .isBeforeOrEqualTo(Instant.parse(ran.path("updatedAt").stringValue()));
        assertThat(schedule("get", "past").out())
                .containsPattern("lastRun.run +run_")
                .containsPattern("lastRun.state +succeeded")
                .containsPattern("createdAt +" + ran.path("createdAt").stringValue())
                .containsPattern("updatedAt +" + ran.path("updatedAt").stringValue());
        assertThat(schedule("list").out()).containsPattern("past .* succeeded ");
        assertThat(schedule("list", "-o", "json").json().valueStream())
                .filteredOn(one -> one.path("name").stringValue().equals("past"))
                .singleElement()
                .satisfies(one -> assertThat(
                                List.of(one.at("/lastRun/state"), one.path("createdAt"), one.path("updatedAt")))
                        .containsExactly(ran.at("/lastRun/state"), ran.path("createdAt"), ran.path("updatedAt")));
        assertThat(schedule("timeline", range[0], range[1], range[2], range[3]).out())
                .contains("# succeeded")
                .containsPattern("\npast +#");
        assertThat(schedule("timeline", range[0], range[1], range[2], range[3], "-o", "yaml")
                        .out())
                .contains("2026-05-01T01:00:00Z", "schedule: past");
        assertThat(schedule("timeline").out())
                .containsPattern("\npast .*\\|.*\\.")
                .contains(". to come");
        assertThat(schedule("timeline", "--around", "10m").out()).containsPattern("\\d\\d:\\d\\d +\\d\\d:\\d\\d");
        assertThat(schedule("timeline", "--around", "10m", "--to", "2026-05-01T00:00:00Z")
                        .exitCode())
                .isEqualTo(2);
        assertThat(schedule("timeline", range[2], range[1], range[0], range[3]).err())
                .contains("--to must be after --from");
        assertThat(schedule("timeline", "--from", "2026-05-01T00:00:00Z").err()).contains("31 days");
        assertThat(schedule("history", "unknown").exitCode()).isEqualTo(3);
    }

    @Test
    void a_handler_that_no_live_node_has_is_a_warning() {
        String warning = "Warning: no live node has a handler named 'fnie', so its runs wait until one starts.\n";

        RemoteServer.CommandResult made = schedule("create", "typo", "--every", "1h", "--handler", "fnie");

        assertThat(made.exitCode()).isZero();
        assertThat(made.err()).isEqualTo(warning);
        assertThat(schedule("update", "typo", "--handler", "fine").err()).isEmpty();
        assertThat(schedule("delete", "typo").exitCode()).isZero();
        RemoteServer.CommandResult run = SERVER.run("run", "enqueue", "fnie", "-o", "name");
        assertThat(run.err()).isEqualTo(warning);
        assertThat(SERVER.run("run", "cancel", run.out().strip()).exitCode()).isZero();
        assertThat(SERVER.run("run", "enqueue", "fine").err()).isEmpty();
    }

    @Test
    void apply_takes_the_yaml_that_get_and_list_print() throws Exception {
        schedule(
                "create",
                "yaml.a",
                "--cron",
                "*/5 * * * *",
                "-z",
                "Europe/Paris",
                "--handler",
                "fine",
                "--payload",
                "{\"n\":1.50,\"text\":\"a: b # c\",\"list\":[1,{\"x\":[]},null,\"yes\"],\"empty\":{}}");
        String printed = schedule("get", "yaml.a", "-o", "yaml").out();
        JsonNode before = schedule("get", "yaml.a", "-o", "json").json();
        Path file = Files.writeString(folder.resolve("a.yaml"), printed);

        assertThat(schedule("apply", "-f", file.toString()).out()).isEqualTo("yaml.a unchanged\n");
        schedule("delete", "yaml.a");
        assertThat(schedule("apply", "-f", file.toString()).out()).isEqualTo("yaml.a created\n");
        assertThat(schedule("get", "yaml.a", "-o", "json").json().path("payload"))
                .isEqualTo(before.path("payload"));

        Path edited = Files.writeString(folder.resolve("b.yaml"), """
                # two schedules
                - name: yaml.a   # changed
                  when: {"cron": "0 2 * * *"}
                  target:
                    handler: 'fine'
                -
                  name: yaml.b
                  when:
                    cron: 0 3 * * *
                    except:
                    - 2026-12-25
                  target: {handler: fine}   # in brackets
                - {name: 'yaml.c', when: {cron: "0 4 * * *", zone: Europe/Paris, except: [2026-12-25, "2026-12-26"]},\
                 target: {handler: fine}, payload: {n: 1.50, url: http://a.example/b, ok: true}}
                """);
        assertThat(schedule("apply", "-f", edited.toString()).out())
                .isEqualTo("yaml.a changed\nyaml.b created\nyaml.c created\n");
        assertThat(schedule("get", "yaml.c", "-o", "yaml").out())
                .contains("\"n\": 1.50\n", "http://a.example/b", "ok: true\n")
                .contains("2026-12-25", "2026-12-26", "Europe/Paris");
        Path wrong = Files.writeString(folder.resolve("c.yaml"), "name: c\nwhen:\n  cron: * * * * *\n");
        RemoteServer.CommandResult refused = schedule("apply", "-f", wrong.toString());
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err()).contains("c.yaml, line 3: Put text that begins with '*' in quotes.");
        for (Map.Entry<String, String> mistake : Map.of(
                        "when: {cron: \"0 2 * * *\"", "A comma or '}' was expected",
                        "when: {cron: * * * * *}", "Put text that begins with '*' in quotes",
                        "when: {cron}", "A colon and a value must follow 'cron'",
                        "when: {a: 1, a: 2}", "The field 'a' is given twice",
                        "when: {a: 'b}", "The quotes do not fit together",
                        "when: {a: 1} b", "Nothing but a comment may follow")
                .entrySet()) {
            Files.writeString(wrong, "name: c\n" + mistake.getKey() + "\n");
            assertThat(schedule("apply", "-f", wrong.toString()).err())
                    .contains("c.yaml, line 2: " + mistake.getValue());
        }
        for (String name : List.of("yaml.a", "yaml.b", "yaml.c")) schedule("delete", name);
    }

    @Test
    void a_list_says_in_one_word_how_each_schedule_is() {
        schedule("create", "state.active", "--every", "1h", "--handler", "fine");
        schedule("create", "state.paused", "--every", "1h", "--handler", "fine");
        schedule("pause", "state.paused", "--reason", "move to\nEurope");
        schedule("create", "state.finished", "--once", "2999-01-01T00:00:00Z", "--handler", "fine");
        SERVER.database().execute("UPDATE carillon.schedule SET ends_at = '2026-01-02' WHERE name = 'state.finished'");
        schedule("create", "state.failing", "--cron", "0 0 1 1 *", "--handler", "broken");
        schedule("backfill", "state.failing", "--from", "2026-01-01T00:00:00Z", "--to", "2026-01-01T00:00:00Z");
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(() -> schedule("get", "state.failing", "-o", "json")
                        .json()
                        .at("/lastRun/state")
                        .stringValue("")
                        .equals("dead"));

        String list = schedule("list").out();

        assertThat(list)
                .startsWith("NAME ")
                .containsPattern("NAME +STATE +NEXT RUN +LAST RUN +TARGET +DESCRIPTION")
                .containsPattern("state.active +active +in \\d+ (s|min)")
                .containsPattern("state.paused +paused: move to +-")
                .containsPattern("state.finished +finished +-")
                .containsPattern("state.failing +failing .*dead");
        assertThat(schedule("list", "--absolute").out()).containsPattern("state.active +active +20\\d\\d-");
    }

    @Test
    void the_queue_list_shows_the_state_of_the_queue_apart_from_its_breaker() {
        SERVER.run("queue", "limit", "calm", "--running", "3");
        SERVER.run("queue", "pause", "stopped", "--reason", "move");

        assertThat(SERVER.run("queue", "list").out())
                .containsPattern("NAME +STATE .*BREAKER")
                .containsPattern("calm +active ")
                .containsPattern("stopped +paused: move ");
    }

    @Test
    void previews_a_timing_without_storing_it() {
        RemoteServer.CommandResult shown = schedule(
                "preview", "--cron", "30 2 * * *", "-z", "Europe/Paris", "--after", "2026-03-27T12:00:00Z", "-n", "3");

        assertThat(shown.err()).startsWith("At 02:30 every day");
        assertThat(shown.out()).contains("2026-03-29T01:00:00Z", "moved").doesNotContain("none");
        assertThat(schedule("preview", "--cron", "30 5 * * *").out()).doesNotContain("MARK");
        assertThat(schedule("preview", "--every", "90m").err()).isEqualTo("Every 90 minutes (UTC)\n");
    }

    @Test
    void the_default_zone_has_its_name_and_can_be_applied() throws Exception {
        schedule("create", "zoned", "--every", "1h", "--handler", "fine");
        RemoteServer.CommandResult shown = schedule("get", "zoned", "-o", "yaml");
        Path file = folder.resolve("zoned.yaml");
        Files.writeString(file, shown.out());

        assertThat(shown.out()).contains("  zone: UTC\n");
        assertThat(schedule("apply", "-f", file.toString()).out()).isEqualTo("zoned unchanged\n");
    }

    @Test
    void watch_shows_a_change_and_ends_when_it_is_interrupted() throws Exception {
        schedule("create", "seen", "--every", "1h", "--handler", "fine");
        StringWriter out = new StringWriter();
        AtomicInteger exit = new AtomicInteger(-1);
        Map<String, String> environment = Map.of("CARILLON_URL", SERVER.url(), "CARILLON_KEY", SERVER.key());
        Thread watcher = new Thread(() -> exit.set(
                Main.run(SERVER.shell(environment, out, new StringWriter()), "schedule", "get", "seen", "--watch")));
        watcher.start();
        Awaitility.await().until(() -> out.toString().contains("seen"));

        schedule("pause", "seen", "--reason", "watched");

        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> out.toString().contains("watched"));
        watcher.interrupt();
        watcher.join(10_000);
        assertThat(exit).hasValue(0);
    }

    @Test
    void pauses_limits_and_lists_queues() {
        assertThat(SERVER.run("queue", "limit", "mail", "--running", "3", "--per-second", "0.5")
                        .exitCode())
                .isZero();
        assertThat(SERVER.run("queue", "pause", "mail", "--reason", "full").out())
                .isEqualTo("Paused mail.\n");
        assertThat(SERVER.run("queue", "pause", "mail", "--reason", "full").err())
                .as("the name may be misspelled")
                .isEqualTo("Note: the queue 'mail' has no waiting or running runs. 'carillon queue list' shows those"
                        + " that have.\n");
        assertThat(SERVER.run("queue", "weight", "mail", "4").out()).isEqualTo("Set the weight of mail to 4.\n");
        assertThat(SERVER.run("queue", "weight", "mail", "0").err()).contains("/weight", "between 1 and 100");
        assertThat(SERVER.run("queue", "get", "mail", "-o", "yaml").out())
                .contains("weight: 4\n")
                .doesNotContain("breaker");
        assertThat(SERVER.run("queue", "breaker", "mail", "on").out()).isEqualTo("Turned the breaker of mail on.\n");
        assertThat(SERVER.run("queue", "get", "mail", "-o", "yaml").out()).contains("state: closed\n");
        assertThat(SERVER.run("queue", "breaker", "mail", "open").err()).contains("on or off (was open)");
        assertThat(SERVER.run("queue", "list").out()).contains("WAITING", "WEIGHT", "mail", "full");
        assertThat(SERVER.run("queue", "get", "mail").out())
                .containsPattern("state +paused\n")
                .contains("full")
                .doesNotContain("more ");
        assertThat(SERVER.run("queue", "stats").out()).contains("WAITING  RUNNING  DEAD  QUARANTINED");
        assertThat(SERVER.run("queue", "get", "mail", "-o", "json")
                        .json()
                        .path("maxRunning")
                        .intValue())
                .isEqualTo(3);
        assertThat(SERVER.run("queue", "resume", "mail").exitCode()).isZero();
        assertThat(SERVER.run("queue", "limit", "mail", "--none").exitCode()).isZero();
        assertThat(SERVER.run("queue", "limit", "mail").exitCode()).isEqualTo(2);
        assertThat(SERVER.run("queue", "get", "unknown").exitCode()).isEqualTo(3);
        assertThat(SERVER.run("queue", "limit", "mail", "--running", "0").err()).contains("/maxRunning");
    }

    @Test
    void warns_about_a_step_larger_than_its_field() {
        String warning = "Warning: a step of 61 in minutes runs once an hour.";

        assertThat(schedule("create", "odd", "--cron", "*/61 * * * *", "--handler", "a.b")
                        .err())
                .contains(warning);
        assertThat(schedule("preview", "--cron", "*/61 * * * *").err()).contains(warning);
    }
}
