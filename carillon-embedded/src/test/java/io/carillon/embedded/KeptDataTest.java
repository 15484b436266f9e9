package io.carillon.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeptDataTest {
    /** Creation is the slow part: tests that are not about it share one cluster, one after the other. */
    @TempDir
    static Path shared;

    @TempDir
    Path directory;

    @Test
    void rows_outlive_close_restart_and_crash() throws Exception {
        Path data = directory.resolve("data");
        List<String> steps = new ArrayList<>();
        int port;
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.in(data).progress(steps::add).start()) {
            Sql.keepARow(postgres, "a");
            port = postgres.port();
            long before = postgres.pid();
            postgres.restart();
            assertThat(postgres.pid()).isNotEqualTo(before);
            Sql.keepARow(postgres, "b");
            postgres.restartImmediately();
            assertThat(postgres.port()).as("clients find it where it was").isEqualTo(port);
            assertThat(Sql.keptRows(postgres)).isEqualTo("a,b");
            assertThat(Sql.ask(postgres, "SHOW data_directory"))
                    .isEqualTo(data.toRealPath().toString());
        }
        assertThat(steps).containsSubsequence("creating the database cluster", "starting");
        assertThat(Files.readString(directory.resolve("data.log")))
                .contains("database system was not properly shut down");
        assertThat(data.resolve("postmaster.pid")).doesNotExist();

        steps.clear();
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.in(data).port(port).progress(steps::add).start()) {
            assertThat(Sql.keptRows(postgres)).isEqualTo("a,b");
            assertThat(postgres.port()).isEqualTo(port);
        }
        assertThat(steps).containsExactly("starting");
    }

    @Test
    void committed_rows_outlive_kill_minus_9() throws Exception {
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.in(shared.resolve("data")).start()) {
            Sql.keepARow(postgres, "committed");
            keepBusy(postgres);
            ProcessHandle postmaster = ProcessHandle.of(postgres.pid()).orElseThrow();
            List<ProcessHandle> children = postmaster.children().toList();
            LogFile log = new LogFile(shared.resolve("data.log"));
            long mark = log.length();

            postgres.kill();

            assertThat(children).isNotEmpty().noneMatch(child -> Proc.runs(child.pid()));
            assertThat(Proc.runs(postmaster.pid())).isFalse();
            postgres.restart();
            assertThat(Sql.keptRows(postgres)).contains("committed");
            assertThat(log.since(mark)).contains("automatic recovery in progress");
        }
    }

    @Test
    void is_durable_and_private() throws Exception {
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.in(shared.resolve("data")).start()) {
            assertThat(Sql.ask(postgres, "SHOW fsync")).isEqualTo("on");
            assertThat(Sql.ask(postgres, "SHOW full_page_writes")).isEqualTo("on");
            assertThat(Sql.ask(postgres, "SHOW synchronous_commit")).isEqualTo("on");
            Path password = shared.resolve("data.password");
            assertThat(Files.readString(password).strip()).isEqualTo(postgres.password());
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(password)))
                    .isEqualTo("rw-------");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(postgres.dataDirectory())))
                    .isEqualTo("rwx------");
        }
    }

    @Test
    void no_character_of_the_path_means_anything() throws Exception {
        // Java cannot name such a file at all where the locale says ASCII.
        boolean beyondAscii = Charset.forName(System.getProperty("sun.jnu.encoding"))
                .newEncoder()
                .canEncode('ü');
        Path data = directory.resolve("a b/$HOME `id` 'q' \"p\" ;#%s\\n" + (beyondAscii ? "ü" : "") + "/-data");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            Sql.keepARow(postgres, "here");
            postgres.restart();
            assertThat(Sql.keptRows(postgres)).isEqualTo("here");
            assertThat(postgres.dataDirectory()).isEqualTo(data.toRealPath());
        }
    }

    @Test
    void a_second_owner_is_refused_in_this_process_and_in_others() throws Exception {
        Path data = shared.resolve("data");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            assertThatThrownBy(() -> EmbeddedPostgres.in(data).start())
                    .isInstanceOf(EmbeddedPostgresException.class)
                    .hasMessageContaining(data + " is in use by this process");
            Path otherName = Files.createSymbolicLink(shared.resolve("link"), data);
            assertThatThrownBy(() -> EmbeddedPostgres.in(otherName).start())
                    .hasMessageContaining("is in use by this process");
            // After the refusals above: a lock is easily lost when the same process opens its file again.
            try (OwnerProcess other =
                    OwnerProcess.launch(Map.of(), data.toString()).untilReady()) {
                assertThat(other.everything())
                        .contains(data + " is in use by process "
                                + ProcessHandle.current().pid());
            }
            assertThat(Sql.ask(postgres, "SELECT 1")).isEqualTo("1");
        }
        EmbeddedPostgres.in(data).start().close();
    }

    @Test
    void data_of_another_major_version_is_refused_and_left_alone() throws Exception {
        Path data = Files.createDirectory(directory.resolve("data"));
        Files.writeString(data.resolve("PG_VERSION"), "17\n");
        Files.writeString(directory.resolve("data.password"), "secret\n");

        assertThatThrownBy(() -> EmbeddedPostgres.in(data).start())
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("written by PostgreSQL 17, which PostgreSQL 18.6 cannot read")
                .hasMessageContaining("export it there, or choose another directory");
        assertThat(data).isDirectoryContaining("glob:**PG_VERSION");
    }

    @Test
    void a_directory_filled_by_somebody_else_is_refused_and_left_alone() throws Exception {
        Path data = Files.createDirectory(directory.resolve("data"));
        Path thesis = Files.writeString(data.resolve("thesis.txt"), "years of work");

        assertThatThrownBy(() -> EmbeddedPostgres.in(data).start())
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("Restore that file, or choose an empty directory");
        assertThat(thesis).hasContent("years of work");
    }

    @Test
    void a_creation_that_was_cut_short_is_done_again() throws Exception {
        Path data = Files.createDirectory(directory.resolve("data"));
        Files.writeString(data.resolve("PG_VERSION"), "18\n");
        Files.createDirectories(data.resolve("creating-1/base"));
        Files.writeString(directory.resolve("data.password.new"), "half");

        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            assertThat(Sql.ask(postgres, "SELECT 1")).isEqualTo("1");
            assertThat(directory.resolve("data.password.new")).doesNotExist();
            assertThat(data).isDirectoryNotContaining("glob:**creating*");
        }
    }

    @Test
    void data_that_a_server_ran_on_is_never_taken_for_cut_short() throws Exception {
        Path data = shared.resolve("data");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            Sql.keepARow(postgres, "precious");
        }
        Files.writeString(shared.resolve("data.password.new"), "half");

        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            assertThat(Sql.keptRows(postgres)).contains("precious");
        }
    }

    @Test
    void a_stale_pid_file_that_names_a_living_stranger_does_not_keep_it_down() throws Exception {
        Path data = shared.resolve("data");
        EmbeddedPostgres.in(data).start().close();
        // Not this process: PostgreSQL overlooks the number of its own parent.
        Process stranger = new ProcessBuilder("cat").start();
        Files.writeString(
                data.resolve("postmaster.pid"), stranger.pid() + "\n" + data + "\n0\n1\n\n127.0.0.1\n0 0\nready\n");

        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            assertThat(Sql.ask(postgres, "SELECT 1")).isEqualTo("1");
            assertThat(stranger.isAlive()).as("it was none of our business").isTrue();
        } finally {
            stranger.destroyForcibly();
        }
    }

    /** One backend counts and counts: such a one does not notice by itself that its postmaster is gone. */
    private static void keepBusy(EmbeddedPostgres postgres) {
        String count = "SELECT count(*) FROM generate_series(1, 100000000000) AS busy";
        String url = postgres.jdbcUrl();
        new Thread(() -> assertThatThrownBy(() -> Sql.ask(url, postgres.password(), count)), "busy").start();
        await().until(() -> Sql.ask(
                        postgres,
                        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '% AS busy'")
                .equals("1"));
    }
}
