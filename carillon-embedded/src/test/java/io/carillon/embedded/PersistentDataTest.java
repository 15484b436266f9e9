package io.carillon.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.carillon.embedded.internal.datadir.ClusterFiles;
import io.carillon.embedded.internal.datadir.LogFile;
import io.carillon.embedded.internal.datadir.Processes;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PersistentDataTest {
    /** Creating a cluster is slow, so tests that do not test the creation share one, one after the other. */
    @TempDir
    static Path shared;

    @TempDir
    Path directory;

    @Test
    void rows_survive_close_restart_and_crash() throws Exception {
        Path data = directory.resolve("data");
        List<String> steps = new ArrayList<>();
        int port;
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.in(data).progress(steps::add).start()) {
            Sql.insertRow(postgres, "a");
            port = postgres.port();
            long before = postgres.pid();
            postgres.restart();
            assertThat(postgres.pid()).isNotEqualTo(before);
            Sql.insertRow(postgres, "b");
            postgres.restartImmediately();
            assertThat(postgres.port()).as("the port does not change").isEqualTo(port);
            assertThat(Sql.storedRows(postgres)).isEqualTo("a,b");
            assertThat(Sql.query(postgres, "SHOW data_directory"))
                    .isEqualTo(data.toRealPath().toString());
        }
        assertThat(steps).containsSubsequence("creating the database cluster", "starting");
        assertThat(Files.readString(directory.resolve("data.log")))
                .contains("database system was not properly shut down");
        assertThat(data.resolve("postmaster.pid")).doesNotExist();

        steps.clear();
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.in(data).port(port).progress(steps::add).start()) {
            assertThat(Sql.storedRows(postgres)).isEqualTo("a,b");
            assertThat(postgres.port()).isEqualTo(port);
        }
        assertThat(steps).containsExactly("starting");
    }

    @Test
    void deletes_the_data_of_a_stopped_server_and_nothing_else() throws Exception {
        Path data = directory.resolve("data");
        Files.writeString(directory.resolve("other.txt"), "other");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            Sql.insertRow(postgres, "a");
            assertThatThrownBy(() -> EmbeddedPostgres.delete(data)).hasMessageContaining("is in use by this process");
            assertThat(Sql.storedRows(postgres)).isEqualTo("a");
        }

        assertThat(EmbeddedPostgres.delete(data))
                .extracting(path -> path.getFileName().toString())
                .containsExactly("data", "data.log", "data.password");

        assertThat(data).isEmptyDirectory();
        assertThat(directory.resolve("other.txt")).exists();
        assertThat(EmbeddedPostgres.delete(data)).isEmpty();
        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            assertThat(Sql.query(postgres, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"))
                    .isEqualTo("0");
        }
    }

    @Test
    void deletes_files_of_the_caller_only_together_with_the_data() throws Exception {
        Path data = directory.resolve("data");
        Path key = Files.writeString(directory.resolve("master.key"), "secret");

        assertThat(EmbeddedPostgres.delete(data, key)).isEmpty();
        assertThat(key).exists();

        EmbeddedPostgres.in(data).start().close();
        assertThat(EmbeddedPostgres.delete(data, key)).contains(key);
        assertThat(key).doesNotExist();
    }

    @Test
    void does_not_delete_under_a_server_that_outlived_its_owner() throws Exception {
        Path data = shared.resolve("data");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            // Without the lock of the owner, as after its death.
            ClusterRemoval removal = new ClusterRemoval(ClusterFiles.of(data), List.of());
            assertThatThrownBy(removal::run)
                    .hasMessageContaining("PostgreSQL with process id " + postgres.pid() + " runs on");
            assertThat(data.resolve("PG_VERSION")).exists();
        }
    }

    @Test
    void does_not_delete_a_directory_that_it_did_not_create() throws Exception {
        Path letters = Files.createDirectory(directory.resolve("letters"));
        Files.writeString(letters.resolve("letter.txt"), "mine");
        Files.writeString(letters.resolve("PG_VERSION"), "18");
        assertThatThrownBy(() -> EmbeddedPostgres.delete(letters))
                .hasMessageContaining("was not created by an embedded PostgreSQL");
        assertThat(letters.resolve("letter.txt")).exists();
    }

    @Test
    void committed_rows_survive_kill_minus_9() throws Exception {
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.in(shared.resolve("data")).start()) {
            Sql.insertRow(postgres, "committed");
            keepBusy(postgres);
            ProcessHandle postmaster = ProcessHandle.of(postgres.pid()).orElseThrow();
            List<ProcessHandle> children = postmaster.children().toList();
            LogFile log = new LogFile(shared.resolve("data.log"));
            long mark = log.length();

            postgres.kill();

            assertThat(children).isNotEmpty().noneMatch(child -> Processes.isRunning(child.pid()));
            assertThat(Processes.isRunning(postmaster.pid())).isFalse();
            postgres.restart();
            assertThat(Sql.storedRows(postgres)).contains("committed");
            assertThat(log.since(mark)).contains("automatic recovery in progress");
        }
    }

    @Test
    void is_durable_and_private() throws Exception {
        try (EmbeddedPostgres postgres =
                EmbeddedPostgres.in(shared.resolve("data")).start()) {
            assertThat(Sql.query(postgres, "SHOW fsync")).isEqualTo("on");
            assertThat(Sql.query(postgres, "SHOW full_page_writes")).isEqualTo("on");
            assertThat(Sql.query(postgres, "SHOW synchronous_commit")).isEqualTo("on");
            Path password = shared.resolve("data.password");
            assertThat(Files.readString(password).strip()).isEqualTo(postgres.password());
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(password)))
                    .isEqualTo("rw-------");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(postgres.dataDirectory())))
                    .isEqualTo("rwx------");
        }
    }

    @Test
    void special_characters_in_the_path_are_taken_literally() throws Exception {
        // Java cannot create such a file name if the locale uses ASCII.
        boolean beyondAscii = Charset.forName(System.getProperty("sun.jnu.encoding"))
                .newEncoder()
                .canEncode('ü');
        Path data = directory.resolve("a b/$HOME `id` 'q' \"p\" ;#%s\\n" + (beyondAscii ? "ü" : "") + "/-data");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            Sql.insertRow(postgres, "here");
            postgres.restart();
            assertThat(Sql.storedRows(postgres)).isEqualTo("here");
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
            // After the rejections above: a process loses its lock if it opens and closes the lock file again.
            try (OwnerProcess other =
                    OwnerProcess.launch(Map.of(), data.toString()).awaitReady()) {
                assertThat(other.allOutput())
                        .contains(data + " is in use by process "
                                + ProcessHandle.current().pid());
            }
            assertThat(Sql.query(postgres, "SELECT 1")).isEqualTo("1");
        }
        EmbeddedPostgres.in(data).start().close();
    }

    @Test
    void data_of_another_major_version_is_refused_and_left_unchanged() throws Exception {
        Path data = Files.createDirectory(directory.resolve("data"));
        Files.writeString(data.resolve("PG_VERSION"), "17\n");
        Files.writeString(directory.resolve("data.password"), "secret\n");

        assertThatThrownBy(() -> EmbeddedPostgres.in(data).start())
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("written by PostgreSQL 17, which PostgreSQL 18.6 cannot read")
                .hasMessageContaining("export the data there, or choose another directory");
        assertThat(data).isDirectoryContaining("glob:**PG_VERSION");
    }

    @Test
    void a_directory_with_foreign_files_is_refused_and_left_unchanged() throws Exception {
        Path data = Files.createDirectory(directory.resolve("data"));
        Path thesis = Files.writeString(data.resolve("thesis.txt"), "years of work");

        assertThatThrownBy(() -> EmbeddedPostgres.in(data).start())
                .isInstanceOf(EmbeddedPostgresException.class)
                .hasMessageContaining("Restore that file, or choose an empty directory");
        assertThat(thesis).hasContent("years of work");
    }

    @Test
    void an_incomplete_cluster_is_created_again() throws Exception {
        Path data = Files.createDirectory(directory.resolve("data"));
        Files.writeString(data.resolve("PG_VERSION"), "18\n");
        Files.createDirectories(data.resolve("creating-1/base"));
        Files.writeString(directory.resolve("data.password.new"), "half");

        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            assertThat(Sql.query(postgres, "SELECT 1")).isEqualTo("1");
            assertThat(directory.resolve("data.password.new")).doesNotExist();
            assertThat(data).isDirectoryNotContaining("glob:**creating*");
        }
    }

    @Test
    void data_that_a_server_ran_on_is_never_treated_as_incomplete() throws Exception {
        Path data = shared.resolve("data");
        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            Sql.insertRow(postgres, "precious");
        }
        Files.writeString(shared.resolve("data.password.new"), "half");

        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            assertThat(Sql.storedRows(postgres)).contains("precious");
        }
    }

    @Test
    void a_stale_pid_file_of_another_live_process_does_not_prevent_a_start() throws Exception {
        Path data = shared.resolve("data");
        EmbeddedPostgres.in(data).start().close();
        // Another process is needed: PostgreSQL ignores the pid of its own parent.
        Process otherProcess = new ProcessBuilder("cat").start();
        Files.writeString(
                data.resolve("postmaster.pid"), otherProcess.pid() + "\n" + data + "\n0\n1\n\n127.0.0.1\n0 0\nready\n");

        try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
            assertThat(Sql.query(postgres, "SELECT 1")).isEqualTo("1");
            assertThat(otherProcess.isAlive())
                    .as("the other process is not killed")
                    .isTrue();
        } finally {
            otherProcess.destroyForcibly();
        }
    }

    /** Keeps a backend busy with a long query. Such a backend does not notice that its postmaster has ended. */
    private static void keepBusy(EmbeddedPostgres postgres) {
        String count = "SELECT count(*) FROM generate_series(1, 100000000000) AS busy";
        String url = postgres.jdbcUrl();
        new Thread(() -> assertThatThrownBy(() -> Sql.query(url, postgres.password(), count)), "busy").start();
        await().until(() -> Sql.query(
                        postgres,
                        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '% AS busy'")
                .equals("1"));
    }
}
