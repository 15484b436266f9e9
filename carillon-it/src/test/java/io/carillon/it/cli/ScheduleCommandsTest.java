package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.cli.Main;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** {@code carillon schedule} and {@code carillon queue} against a running server. */
class ScheduleCommandsTest {
    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    @TempDir
    Path folder;

    private static RemoteServer.Called schedule(String... words) {
        String[] all = new String[words.length + 1];
        all[0] = "schedule";
        System.arraycopy(words, 0, all, 1, words.length);
        return SERVER.carillon(all);
    }

    @Test
    void creates_shows_pauses_resumes_and_deletes() {
        RemoteServer.Called made = schedule(
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

        assertThat(made.exit()).as(made.err()).isZero();
        assertThat(made.out()).startsWith("Created life: At 02:00 every day").contains("next at 20");
        assertThat(schedule("get", "life", "-o", "json").out()).contains("\"n\" : 1.50");
        assertThat(schedule("pause", "life", "--reason", "holiday").out()).isEqualTo("Paused life.\n");
        assertThat(schedule("get", "life").out()).contains("holiday");
        assertThat(schedule("list").out()).contains("NAME", "life ", "holiday");
        assertThat(schedule("resume", "life", "-o", "name").out()).isEqualTo("life\n");
        assertThat(schedule("get", "life", "-o", "yaml").out())
                .startsWith("name: life\n")
                .contains("when:\n  cron: \"0 2 * * *\"\n  zone: Europe/Paris\n");
        assertThat(schedule("delete", "life").out()).isEqualTo("Deleted life.\n");
        assertThat(schedule("get", "life").exit()).isEqualTo(3);
    }

    @Test
    void one_that_cannot_be_read_is_listed_updated_and_deleted() {
        for (String name : java.util.List.of("mars.a", "mars.b"))
            schedule("create", name, "--cron", "0 2 * * *", "--handler", "fine");
        SERVER.database().execute("UPDATE carillon.schedule SET zone = 'Mars/Olympus' WHERE name LIKE 'mars.%'");

        assertThat(schedule("list").out()).contains("mars.a", "cannot be read: ");
        assertThat(schedule("get", "mars.a").out()).contains("Mars/Olympus");
        RemoteServer.Called half = schedule("update", "mars.a", "--grace", "1m");
        assertThat(half.exit()).isEqualTo(2);
        assertThat(half.err()).contains("/when");
        RemoteServer.Called whole = schedule("update", "mars.a", "--cron", "0 3 * * *", "-z", "UTC");
        assertThat(whole.out()).as(whole.err()).isEqualTo("mars.a changed\n");
        assertThat(schedule("delete", "mars.b").out()).isEqualTo("Deleted mars.b.\n");
        assertThat(schedule("delete", "mars.a").exit()).isZero();
    }

    @Test
    void a_schedule_that_cannot_be_read_keeps_the_policies_that_can() {
        schedule("create", "venus", "--cron", "0 2 * * *", "--handler", "fine", "--grace", "1h", "--overlap", "skip");
        SERVER.database()
                .execute("UPDATE carillon.schedule SET zone = 'Mars/Olympus', missed = 'run-some', max_runs = 7"
                        + " WHERE name = 'venus'");

        RemoteServer.Called unsaid = schedule("update", "venus", "--cron", "0 3 * * *", "-z", "UTC");
        assertThat(unsaid.exit()).isEqualTo(2);
        assertThat(unsaid.err()).contains("'run-some'", "--missed");
        assertThat(schedule("update", "venus", "--cron", "0 3 * * *", "-z", "UTC", "--missed", "skip")
                        .exit())
                .isZero();

        assertThat(schedule("get", "venus", "-o", "json").out().replace(" ", ""))
                .contains("\"overlap\":\"skip\"", "\"missed\":\"skip\"", "\"grace\":\"PT1H\"", "\"maxRuns\":7");
        assertThat(schedule("delete", "venus").exit()).isZero();
    }

    @Test
    void a_name_that_is_taken_is_refused_as_a_conflict() {
        assertThat(schedule("create", "taken", "--every", "1h", "--handler", "fine")
                        .exit())
                .isZero();

        RemoteServer.Called second = schedule("create", "taken", "--every", "2h", "--handler", "fine");

        assertThat(second.exit()).isEqualTo(5);
        assertThat(second.err()).contains("There is a schedule taken already", "'carillon schedule apply' changes it");
        assertThat(schedule("get", "taken", "-o", "json")
                        .json()
                        .at("/when/every/amount")
                        .intValue())
                .isEqualTo(1);
    }

    @Test
    void what_the_server_refuses_is_told_with_the_place_and_what_to_do() {
        RemoteServer.Called wrong = schedule("create", "odd", "--cron", "0 22-2 * * *", "--handler", "fine");

        assertThat(wrong.exit()).isEqualTo(2);
        assertThat(wrong.err())
                .startsWith("carillon: Range runs backwards")
                .contains("Write 22-23,0-2.\n  at /when/cron\n(422 cron-syntax, request req_");
        assertThat(schedule("create", "odd", "--every", "1h", "--handler", "fine", "--grace", "soon")
                        .err())
                .startsWith("carillon: A part of the request cannot be.\n  /grace: This must be a duration")
                .doesNotContain("See errors", "\tat ");
    }

    @Test
    void what_is_missing_or_contradicts_itself_is_told_before_anything_is_sent() {
        assertThat(schedule("create", "x", "--handler", "fine").err())
                .contains("--cron, --every, --once or --adaptive");
        assertThat(schedule("create", "x", "--every", "1h").err()).contains("--handler, --webhook or --target");
        assertThat(schedule("create", "x", "--every", "soon", "--handler", "fine")
                        .err())
                .contains("'soon'", "10s");
        for (String unit : List.of("500ms", "1M", "10S", "2hs"))
            assertThat(schedule("create", "x", "--every", unit, "--handler", "fine")
                            .err())
                    .contains("'" + unit + "'");
        assertThat(schedule("create", "x", "--every", "1h", "--handler", "fine", "--payload", "{n:1}")
                        .err())
                .contains("--payload is no JSON");
        assertThat(schedule("apply").exit()).isEqualTo(2);
        assertThat(schedule("pauze", "x").err()).contains("Did you mean 'pause'?");
    }

    @Test
    void what_list_writes_apply_reads_and_tells_what_changed() throws Exception {
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
    void one_schedule_that_is_refused_does_not_hold_up_the_others() throws Exception {
        Path file = folder.resolve("some.json");
        Files.writeString(file, """
                [{"name":"some.bad","when":{"cron":"never"},"target":{"handler":"fine"}},
                 {"name":"some.good","when":{"cron":"@daily"},"target":{"handler":"fine"}}]
                """);

        RemoteServer.Called applied = schedule("apply", "--file", file.toString());

        assertThat(applied.exit()).isEqualTo(8);
        assertThat(applied.out()).isEqualTo("some.good created\n");
        assertThat(applied.err()).contains("some.bad: ", "/when/cron");
    }

    @Test
    void triggers_backfills_and_tells_what_became_of_each_instant() {
        schedule("create", "past", "--cron", "0 * * * *", "--handler", "fine");

        String run = schedule("trigger", "past", "-o", "name").out().strip();
        assertThat(run).startsWith("run_");
        assertThat(SERVER.carillon("run", "wait", run, "--for", "30s").exit()).isZero();
        String[] range = {"--from", "2026-05-01T00:00:00Z", "--to", "2026-05-01T02:00:00Z"};
        assertThat(schedule("backfill", "past", range[0], range[1], range[2], range[3], "--dry-run")
                        .out())
                .isEqualTo("3 runs would be made.\n");
        assertThat(schedule("backfill", "past", range[0], range[1], range[2], range[3])
                        .out())
                .isEqualTo("3 runs were made.\n");
        assertThat(schedule("ledger", "past", range[0], range[1], range[2], range[3])
                        .out())
                .contains("FROM", "2026-05-01T01:00:00Z");
        assertThat(schedule("timeline", range[0], range[1], range[2], range[3]).out())
                .contains("SCHEDULE", "2026-05-01T01:00:00Z", "past");
        assertThat(schedule("timeline").out()).contains("past", "to come");
        assertThat(schedule("timeline", "--from", "2026-05-01T00:00:00Z").err()).contains("31 days");
        assertThat(schedule("history", "nobody").exit()).isEqualTo(3);
    }

    @Test
    void previews_a_timing_without_storing_it() {
        RemoteServer.Called shown = schedule(
                "preview", "--cron", "30 2 * * *", "-z", "Europe/Paris", "--after", "2026-03-27T12:00:00Z", "-n", "3");

        assertThat(shown.err()).startsWith("At 02:30 every day");
        assertThat(shown.out()).contains("2026-03-29T01:00:00Z", "moved");
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
        assertThat(SERVER.carillon("queue", "limit", "mail", "--running", "3", "--per-second", "0.5")
                        .exit())
                .isZero();
        assertThat(SERVER.carillon("queue", "pause", "mail", "--reason", "full").out())
                .isEqualTo("Paused mail.\n");
        assertThat(SERVER.carillon("queue", "weigh", "mail", "4").out()).isEqualTo("mail weighs 4.\n");
        assertThat(SERVER.carillon("queue", "weigh", "mail", "0").err()).contains("/weight", "1..100");
        assertThat(SERVER.carillon("queue", "get", "mail", "-o", "yaml").out()).contains("weight: 4\n");
        assertThat(SERVER.carillon("queue", "list").out()).contains("WAITING", "WEIGHT", "mail", "full");
        assertThat(SERVER.carillon("queue", "stats").out()).contains("WAITING  RUNNING  DEAD  QUARANTINED");
        assertThat(SERVER.carillon("queue", "get", "mail", "-o", "json")
                        .json()
                        .path("maxRunning")
                        .intValue())
                .isEqualTo(3);
        assertThat(SERVER.carillon("queue", "resume", "mail").exit()).isZero();
        assertThat(SERVER.carillon("queue", "limit", "mail", "--none").exit()).isZero();
        assertThat(SERVER.carillon("queue", "limit", "mail").exit()).isEqualTo(2);
        assertThat(SERVER.carillon("queue", "get", "nobody").exit()).isEqualTo(3);
        assertThat(SERVER.carillon("queue", "limit", "mail", "--running", "0").err())
                .contains("/maxRunning");
    }

    @Test
    void warns_of_a_step_beyond_its_field() {
        String warning = "Warning: a step of 61 in minutes runs once an hour.";

        assertThat(schedule("create", "odd", "--cron", "*/61 * * * *", "--handler", "a.b")
                        .err())
                .contains(warning);
        assertThat(schedule("preview", "--cron", "*/61 * * * *").err()).contains(warning);
    }
}
