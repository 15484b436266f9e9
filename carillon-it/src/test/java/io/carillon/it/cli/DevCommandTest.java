package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.embedded.EmbeddedPostgres;
import io.carillon.run.HandlerType;
import io.carillon.schedule.When;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code carillon dev} from start to end, as a process without a terminal. */
@DisabledOnOs(
        value = OS.WINDOWS,
        disabledReason = "Process.destroy kills a process on Windows without an orderly shutdown")
class DevCommandTest {
    private static final String STAMP = "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z ";
    private static final String ENTER = "\u001b[?1049h\u001b[?25l";
    private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
    private static final String ERROR = "java\\.lang\\.IllegalStateException: demo\\.fails fails on purpose";
    private static final String RUN = " run_[0-9a-z]{26} ";

    @TempDir
    Path folder;

    @Test
    void prints_events_stops_cleanly_and_continues_at_the_next_start() throws Exception {
        String interrupted;
        try (CommandProcess dev = start()) {
            dev.await(STAMP + "demo.hello" + RUN + "succeeded in \\d[\\d.]* m?s$");
            is_rejected_while_another_process_uses_the_data();
            dev.await(STAMP + "demo.report" + RUN + "progress 20 %$");
            dev.await(STAMP + "demo.fails" + RUN + "failed, retry in \\d[\\d.]* m?s: " + ERROR);
            dev.await(STAMP + "demo.fails" + RUN + "dead after 3 attempts: " + ERROR);
            assertThat(dev.out())
                    .contains("NOT FOR PRODUCTION", "  database   embedded PostgreSQL ", "  data       " + data())
                    .contains("  schema     created at version ", "demo.hello   Every 5 seconds   next in ", "Ctrl-C")
                    .contains("/ui  (log in with the key in ")
                    .as("a login link is printed to a terminal only")
                    .doesNotContain("#/login/");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data())))
                    .isEqualTo("rwx------");
            List<ProcessHandle> processes = dev.processTree();
            assertThat(processes).hasSizeGreaterThan(2);

            assertThat(dev.terminate()).as(dev::err).isZero();

            assertThat(data().resolve("postgres/postmaster.pid"))
                    .as("PostgreSQL stopped before the command ended")
                    .doesNotExist();
            Awaitility.await("no process is left")
                    .atMost(Duration.ofSeconds(10))
                    .until(() -> processes.stream().noneMatch(ProcessHandle::isAlive));
            assertThat(dev.out()).doesNotContain("\u001b");
            assertThat(dev.out() + dev.err()).as("a dead run has one line").doesNotContain("run dead run=");
            assertThat(dev.err()).contains("Stopping: ", "Stopped. ", "The data is kept in " + data());
            assertThat(data().resolve("carillon.log"))
                    .content()
                    .as("the echo receiver listens before the first webhook is sent")
                    .containsSubsequence("server started", "node started", "node stopped");
            interrupted =
                    dev.await("demo.report (run_\\w+) handed back, runs again").group(1);
        }
        try (CommandProcess again = start()) {
            again.await("  schema     up to date at version ");
            again.await("  profile    dev, selected for all commands$");
            again.await("demo.hello" + RUN + "succeeded");
            again.await("demo.report " + interrupted + " progress 20 %");
            the_examples_of_the_banner_work(again);

            assertThat(again.terminate()).isZero();
        }
    }

    private static void the_examples_of_the_banner_work(CommandProcess dev) throws Exception {
        String curl = dev.await("^  try +(curl .*)$").group(1);
        String command = dev.await("^ +carillon (schedule create .*)$").group(1);
        String hook = dev.await("^ +carillon (schedule create my.hook .*)$").group(1);

        assertThat(command + hook).as("the profile has the address and the key").doesNotContain("--url", "--key-file");
        assertThat(shell(dev, CommandProcess.shellCommand() + " " + command))
                .startsWith("Created my.hello: Every 10 seconds");
        assertThat(shell(dev, CommandProcess.shellCommand() + " " + hook))
                .startsWith("Created my.hook: Every 10 seconds");
        dev.await("webhook" + RUN + "succeeded");
        if (Files.isExecutable(Path.of("/usr/bin/curl"))) {
            assertThat(shell(dev, curl)).contains("my.hello", "demo.fails");
            assertThat(shell(dev, curl.replace("/v1/schedules", "/metrics"))).contains("carillon_node_slots{");
        }
    }

    private static String shell(CommandProcess dev, String line) throws Exception {
        ProcessBuilder builder = new ProcessBuilder("sh", "-c", line).redirectErrorStream(true);
        builder.environment().put("CARILLON_HOME", dev.home().toString());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output;
    }

    private void is_rejected_while_another_process_uses_the_data() throws Exception {
        CommandProcess second = CommandProcess.runToEnd("dev", "--data", data().toString());

        assertThat(second.exitCode()).isEqualTo(1);
        assertThat(second.err())
                .contains("is in use by process ", "choose another directory")
                .doesNotContain("\tat ");
    }

    @Tag("slow")
    @Test
    void reset_deletes_the_data_of_a_pre_release_and_starts_afresh() throws Exception {
        createPreReleaseData();
        CommandProcess refused = CommandProcess.runToEnd("dev", "--data", data().toString());
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err())
                .contains("created by a pre-release of Carillon", "Run carillon dev --reset --data '" + data() + "' to")
                .doesNotContain("DROP SCHEMA", "\tat ");
        Files.writeString(data().resolve("notes.txt"), "mine");

        try (CommandProcess dev = start("--reset")) {
            dev.await("  schema     created at version ");
            assertThat(dev.err())
                    .contains("Deleted in " + data() + ": postgres, master.key, postgres.log, postgres.password");
            CommandProcess second = CommandProcess.runToEnd("dev", "--reset", "--data", data().toString());
            assertThat(second.exitCode()).isEqualTo(1);
            assertThat(second.err()).contains("is in use by process ").doesNotContain("Deleted");
            dev.await("demo.hello" + RUN + "succeeded");

            assertThat(dev.terminate()).as(dev::err).isZero();
        }
        assertThat(data().resolve("notes.txt")).hasContent("mine");
    }

    @Test
    void reset_does_not_touch_a_database_that_was_named() throws Exception {
        CommandProcess refused = CommandProcess.runToEnd(
                "dev", "--reset", "--data", data().toString(), "--database-url", "postgres://u:p@127.0.0.1:1/x");

        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err()).contains("--reset cannot be combined with --database-url");
    }

    private void createPreReleaseData() throws Exception {
        Files.createDirectories(data());
        Files.writeString(data().resolve("master.key"), "old");
        try (EmbeddedPostgres server =
                        EmbeddedPostgres.in(data().resolve("postgres")).start();
                Connection connection =
                        DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
                Statement statement = connection.createStatement()) {
            statement.execute("""
                    CREATE SCHEMA carillon;
                    CREATE TABLE carillon.migration (
                      number integer PRIMARY KEY, name text, checksum text, min_code integer, applied_at timestamptz);
                    INSERT INTO carillon.migration VALUES (1, 'foundation', repeat('a', 64), 1, statement_timestamp()),
                                                          (26, 'last', repeat('a', 64), 26, statement_timestamp());
                    """);
        }
    }

    @Tag("slow")
    @Test
    void stops_within_15_seconds_after_its_database_died() throws Exception {
        try (CommandProcess dev = start()) {
            dev.await("demo.report" + RUN + "progress");
            dev.processTree().stream()
                    .filter(process -> process.info().command().orElse("").endsWith("postgres"))
                    .forEach(ProcessHandle::destroyForcibly);
            Awaitility.await("the command logs the loss")
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> dev.err().contains("loop failed"));
            long before = System.nanoTime();

            dev.terminate();

            assertThat(Duration.ofNanos(System.nanoTime() - before))
                    .as(dev::err)
                    .isLessThan(Duration.ofSeconds(15));
            assertThat(dev.err()).contains("Stopping: ").doesNotContain("\tat ");
        }
    }

    @Tag("slow")
    @Test
    void works_on_another_database_and_removes_the_demo_schedules_from_it() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.temporary().start()) {
            String url =
                    "postgres://%s:%s@127.0.0.1:%d/carillon".formatted(server.user(), server.password(), server.port());
            createEarlierData(server);
            try (CommandProcess dev = start("--seed", "none", "--database-url", url)) {
                dev.await("  schedules  none yet");
                dev.await("  database   PostgreSQL \\S+ on 127.0.0.1:" + server.port() + "/carillon$");

                assertThat(dev.terminate()).isZero();

                assertThat(dev.out() + dev.err()).doesNotContain("demo.", server.password());
                assertThat(data().resolve("postgres")).doesNotExist();
            }
        }
    }

    @Tag("slow")
    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs the program script of util-linux")
    void draws_in_a_terminal_and_restores_the_terminal_even_after_a_kill() throws Exception {
        assumeThat(Path.of("/usr/bin/script")).exists();
        try (EmbeddedPostgres server = EmbeddedPostgres.temporary().start()) {
            String url = "%s?user=%s&password=%s".formatted(server.jdbcUrl(), server.user(), server.password());
            try (CommandProcess dev =
                    CommandProcess.inTerminal("dev", "--data", data().toString(), "--database-url", url)) {
                dev.await(Pattern.quote(ENTER));
                dev.await("demo.hello +.*succeeded");
                dev.type("q");
                assertThat(dev.exitCode()).isZero();
                assertThat(dev.out()).containsSubsequence(ENTER, "DEV MODE", "SCHEDULES", LEAVE, "Stopped.");
            }
            try (CommandProcess dev =
                    CommandProcess.inTerminal("dev", "--data", data().toString(), "--database-url", url)) {
                dev.await(Pattern.quote(ENTER));
                dev.processTree().stream()
                        .filter(process -> process.info().command().orElse("").endsWith("java"))
                        .forEach(ProcessHandle::destroyForcibly);
                dev.await(Pattern.quote(LEAVE));
                dev.type("\n");
                assertThat(dev.exitCode()).isEqualTo(137);
            }
        }
    }

    /** Creates the data of an earlier start. */
    private static void createEarlierData(EmbeddedPostgres server) {
        HandlerType<String> hello = HandlerType.of("demo.hello", String.class);
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(server.jdbcUrl());
            pool.setUsername(server.user());
            pool.setPassword(server.password());
            Carillon.on(pool)
                    .handle(hello, (text, run) -> {})
                    .schedule("demo.hello", When.cron("@yearly", "UTC"), hello, "x")
                    .build()
                    .close();
        }
    }

    private Path data() {
        return folder.resolve("dev data");
    }

    private CommandProcess start(String... more) throws Exception {
        String[] words = new String[3 + more.length];
        words[0] = "dev";
        words[1] = "--data";
        words[2] = data().toString();
        System.arraycopy(more, 0, words, 3, more.length);
        return CommandProcess.start(words);
    }
}
