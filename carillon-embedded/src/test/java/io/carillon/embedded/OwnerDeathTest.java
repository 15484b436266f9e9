package io.carillon.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnerDeathTest {
    private static final Map<String, String> SAME = Map.of();

    /** The tests own it one after the other. */
    @TempDir
    static Path directory;

    @Test
    void the_server_stops_in_order_when_its_owner_is_killed() throws Exception {
        Path data = directory.resolve("data");
        try (OwnerProcess owner = OwnerProcess.launch(SAME, data.toString()).untilReady()) {
            ProcessHandle server = owner.server();
            long mark = log().length();

            owner.killJvm();

            awaitEnd(server);
            assertThat(log().since(mark)).contains("received fast shutdown request");
        }
    }

    @Test
    void a_temporary_directory_goes_when_its_owner_is_killed() throws Exception {
        try (OwnerProcess owner = OwnerProcess.launch(SAME).untilReady()) {
            Path home = owner.data().getParent();
            ProcessHandle watchdog = owner.watchdog();
            assertThat(home).exists();

            owner.killJvm();

            awaitEnd(watchdog);
            assertThat(home).doesNotExist();
        }
    }

    @Test
    void a_server_that_outlived_its_owner_is_ended_and_its_rows_are_there() throws Exception {
        Path data = directory.resolve("data");
        try (OwnerProcess owner = OwnerProcess.launch(SAME, data.toString()).untilReady()) {
            ProcessHandle server = owner.server();
            String password =
                    Files.readString(directory.resolve("data.password")).strip();
            Sql.tell(owner.url(), password, "CREATE TABLE kept (text text)", "INSERT INTO kept VALUES ('a row')");
            owner.killAllButTheServer();
            assertThat(server.isAlive()).as("nobody is left to stop it").isTrue();
            assertThat(Sql.ask(owner.url(), password, "SELECT 1")).isEqualTo("1");

            try (EmbeddedPostgres postgres = EmbeddedPostgres.in(data).start()) {
                assertThat(Proc.runs(server.pid())).isFalse();
                assertThat(postgres.pid()).isNotEqualTo(server.pid());
                assertThat(postgres.password()).isEqualTo(password);
                assertThat(Sql.keptRows(postgres)).isEqualTo("a row");
            }
        }
    }

    @Test
    void the_server_is_gone_when_its_owner_was_told_to_exit() throws Exception {
        Path data = directory.resolve("data");
        try (OwnerProcess owner = OwnerProcess.launch(SAME, data.toString()).untilReady()) {
            long server = owner.server().pid();
            long mark = log().length();

            assertThat(owner.terminate()).isTrue();

            assertThat(Proc.runs(server)).isFalse();
            assertThat(log().since(mark)).contains("database system is shut down");
        }
    }

    @Test
    void a_server_that_need_not_stop_at_exit_answers_to_the_last_and_stops_then() throws Exception {
        Path data = directory.resolve("data");
        try (OwnerProcess owner =
                OwnerProcess.launch(SAME, data.toString(), "lets-go-slowly").untilReady()) {
            ProcessHandle server = owner.server();

            assertThat(owner.terminate()).isTrue();

            assertThat(owner.untilReady().lastWords()).isEqualTo("heard");
            awaitEnd(server);
        }
    }

    private static LogFile log() {
        return new LogFile(directory.resolve("data.log"));
    }

    /** Not by onExit: a process without a parent counts as alive there until somebody takes note of its end. */
    private static void awaitEnd(ProcessHandle process) {
        await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> !Proc.runs(process.pid()));
    }
}
