package io.carillon.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.embedded.internal.datadir.LogFile;
import io.carillon.embedded.internal.datadir.Processes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnerDeathTest {
    private static final Map<String, String> NO_EXTRA_ENVIRONMENT = Map.of();

    /** The tests own it one after the other. */
    @TempDir
    static Path directory;

    @Test
    void the_server_stops_in_order_when_its_owner_is_killed() throws Exception {
        Path data = directory.resolve("data");
        try (OwnerProcess owner =
                OwnerProcess.launch(NO_EXTRA_ENVIRONMENT, data.toString()).awaitReady()) {
            ProcessHandle server = owner.server();
            long mark = log().length();

            owner.killJvm();

            awaitEnd(server);
            assertThat(log().since(mark)).contains("received fast shutdown request");
        }
    }

    @Test
    void a_temporary_directory_is_removed_when_its_owner_is_killed() throws Exception {
        try (OwnerProcess owner = OwnerProcess.launch(NO_EXTRA_ENVIRONMENT).awaitReady()) {
            Path home = owner.data().getParent();
            ProcessHandle watchdog = owner.watchdog();
            assertThat(home).exists();

            owner.killJvm();

            awaitEnd(watchdog);
            assertThat(home).doesNotExist();
        }
    }

    @Test
    void a_server_left_by_a_dead_owner_is_stopped_and_its_rows_are_kept() throws Exception {
        Path data = directory.resolve("data");
        try (OwnerProcess owner =
                OwnerProcess.launch(NO_EXTRA_ENVIRONMENT, data.toString()).awaitReady()) {
            ProcessHandle server = owner.server();
            String password =
                    Files.readString(directory.resolve("data.password")).strip();
            Sql.execute(owner.url(), password, "CREATE TABLE kept (text text)", "INSERT INTO kept VALUES ('a row')");
            owner.killAllButTheServer();
            assertThat(server.isAlive())
                    .as("the server still runs, because no watchdog is left")
                    .isTrue();
            assertThat(Sql.query(owner.url(), password, "SELECT 1")).isEqualTo("1");

            try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
                assertThat(Processes.isRunning(server.pid())).isFalse();
                assertThat(postgres.pid()).isNotEqualTo(server.pid());
                assertThat(postgres.password()).isEqualTo(password);
                assertThat(Sql.storedRows(postgres)).isEqualTo("a row");
            }
        }
    }

    @Test
    void the_server_has_ended_when_its_owner_exits_after_a_signal() throws Exception {
        Path data = directory.resolve("data");
        try (OwnerProcess owner =
                OwnerProcess.launch(NO_EXTRA_ENVIRONMENT, data.toString()).awaitReady()) {
            long server = owner.server().pid();
            long mark = log().length();

            assertThat(owner.terminate()).isTrue();

            assertThat(Processes.isRunning(server)).isFalse();
            assertThat(log().since(mark)).contains("database system is shut down");
        }
    }

    @Test
    void a_server_without_stop_at_exit_answers_until_the_jvm_has_ended() throws Exception {
        Path data = directory.resolve("data");
        try (OwnerProcess owner = OwnerProcess.launch(NO_EXTRA_ENVIRONMENT, data.toString(), "lets-go-slowly")
                .awaitReady()) {
            ProcessHandle server = owner.server();

            assertThat(owner.terminate()).isTrue();

            assertThat(owner.awaitReady().lastQueryResult()).isEqualTo("heard");
            awaitEnd(server);
        }
    }

    private static LogFile log() {
        return new LogFile(directory.resolve("data.log"));
    }

    /** Does not use onExit: a process without a parent counts as alive there until its exit code is read. */
    private static void awaitEnd(ProcessHandle process) {
        await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> !Processes.isRunning(process.pid()));
    }
}
