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
        disabledReason = "there Process.destroy ends a process without a chance to stop in order")
class DevCommandTest {
    private static final String STAMP = "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z ";
    private static final String ENTER = "\u001b[?1049h\u001b[?25l";
    private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
    private static final String ERROR = "java\\.lang\\.IllegalStateException: demo\\.flaky fails on purpose";
    private static final String RUN = " run_[0-9a-z]{26} ";

    @TempDir
    Path folder;

    @Test
    void shows_what_happens_stops_in_order_and_goes_on_at_the_next_start() throws Exception {
        String interrupted;
        try (Command dev = start()) {
            dev.await(STAMP + "demo.hello" + RUN + "succeeded in \\d[\\d.]* m?s$");
            is_refused_while_another_one_owns_the_data();
            dev.await(STAMP + "demo.report" + RUN + "progress 20 %$");
            dev.await(STAMP + "demo.flaky" + RUN + "failed, retry in \\d[\\d.]* m?s: " + ERROR);
            dev.await(STAMP + "demo.flaky" + RUN + "dead after 3 attempts: " + ERROR);
            assertThat(dev.out())
                    .contains("NOT FOR PRODUCTION", "  database   embedded PostgreSQL ", "  data       " + data())
                    .contains("  schema     created, number ", "demo.hello   Every 5 seconds   next in ", "Ctrl-C");
            List<ProcessHandle> family = dev.family();
            assertThat(family).hasSizeGreaterThan(2);

            assertThat(dev.terminate()).as(dev::err).isZero();

            assertThat(data().resolve("postgres/postmaster.pid"))
                    .as("PostgreSQL stopped before the command ended")
                    .doesNotExist();
            Awaitility.await("no process is left")
                    .atMost(Duration.ofSeconds(10))
                    .until(() -> family.stream().noneMatch(ProcessHandle::isAlive));
            assertThat(dev.out()).doesNotContain("\u001b");
            assertThat(dev.err()).contains("Stopping: ", "Stopped. ", "The data stays in " + data());
            assertThat(data().resolve("carillon.log")).content().contains("INFO ", "node stopped");
            interrupted = dev.await("demo.report (run_\\w+) handed back, it runs again")
                    .group(1);
        }
        try (Command again = start()) {
            again.await("  schema     up to date, number ");
            again.await("demo.hello" + RUN + "succeeded");
            again.await("demo.report " + interrupted + " progress 20 %");
            what_the_first_lines_offer_works_as_it_stands(again);

            assertThat(again.terminate()).isZero();
        }
    }

    private static void what_the_first_lines_offer_works_as_it_stands(Command dev) throws Exception {
        String curl = dev.await("^  try +(curl .*)$").group(1);
        String command = dev.await("^ +\\./carillon (schedule create .*)$").group(1);

        String hook = dev.await("^ +\\./carillon (schedule create my.hook .*)$").group(1);

        assertThat(shell(Command.program() + " " + command)).startsWith("Created my.hello: Every 10 seconds");
        assertThat(shell(Command.program() + " " + hook)).startsWith("Created my.hook: Every 10 seconds");
        dev.await("webhook" + RUN + "succeeded");
        if (Files.isExecutable(Path.of("/usr/bin/curl")))
            assertThat(shell(curl)).contains("my.hello", "demo.flaky");
    }

    private static String shell(String line) throws Exception {
        Process process =
                new ProcessBuilder("sh", "-c", line).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return said;
    }

    private void is_refused_while_another_one_owns_the_data() throws Exception {
        Command second = Command.ended("dev", "--data", data().toString());

        assertThat(second.exit()).isEqualTo(1);
        assertThat(second.err())
                .contains("is in use by process ", "choose another directory")
                .doesNotContain("\tat ");
    }

    @Tag("slow")
    @Test
    void stops_in_a_few_seconds_although_its_database_died() throws Exception {
        try (Command dev = start()) {
            dev.await("demo.report" + RUN + "progress");
            dev.family().stream()
                    .filter(process -> process.info().command().orElse("").endsWith("postgres"))
                    .forEach(ProcessHandle::destroyForcibly);
            Awaitility.await("it has noticed")
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
    void works_on_another_database_and_takes_the_demo_schedules_out_of_it() throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.temporary().start()) {
            String url =
                    "postgres://%s:%s@127.0.0.1:%d/carillon".formatted(server.user(), server.password(), server.port());
            seed(server);
            try (Command dev = start("--seed", "none", "--database-url", url)) {
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
    void draws_in_a_terminal_and_gives_it_back_even_when_it_is_killed() throws Exception {
        assumeThat(Path.of("/usr/bin/script")).exists();
        try (EmbeddedPostgres server = EmbeddedPostgres.temporary().start()) {
            String url = "%s?user=%s&password=%s".formatted(server.jdbcUrl(), server.user(), server.password());
            try (Command dev = Command.inTerminal("dev", "--data", data().toString(), "--database-url", url)) {
                dev.await(Pattern.quote(ENTER));
                dev.await("demo.hello +.*succeeded");
                dev.type("q");
                assertThat(dev.exit()).isZero();
                assertThat(dev.out()).containsSubsequence(ENTER, "DEV MODE", "SCHEDULES", LEAVE, "Stopped.");
            }
            try (Command dev = Command.inTerminal("dev", "--data", data().toString(), "--database-url", url)) {
                dev.await(Pattern.quote(ENTER));
                dev.family().stream()
                        .filter(process -> process.info().command().orElse("").endsWith("java"))
                        .forEach(ProcessHandle::destroyForcibly);
                dev.await(Pattern.quote(LEAVE));
                dev.type("\n");
                assertThat(dev.exit()).isEqualTo(137);
            }
        }
    }

    /** As an earlier start could have left it. */
    private static void seed(EmbeddedPostgres server) {
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

    private Command start(String... more) throws Exception {
        String[] words = new String[3 + more.length];
        words[0] = "dev";
        words[1] = "--data";
        words[2] = data().toString();
        System.arraycopy(more, 0, words, 3, more.length);
        return Command.start(words);
    }
}
