package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Keys, projects and profiles; and what the command says when it is not let in or nobody is there. */
class AccessTest {
    private static final String KEY = "crl_\\w{12}_\\w{32}_\\w{6}";

    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    @TempDir
    Path folder;

    @Test
    void a_key_is_shown_once_works_is_rotated_and_revoked() {
        RemoteServer.Called made = SERVER.carillon("key", "create", "reader", "--scope", "read");
        String key = made.out().strip();
        String id = key.substring(4, 16);

        assertThat(key).matches(KEY);
        assertThat(made.err()).contains("only time");
        assertThat(SERVER.carillon("key", "list").out()).contains(id, "reader").doesNotContain(key);
        assertThat(SERVER.carillon("key", "get", id, "-o", "yaml").out()).doesNotContain(key);
        assertThat(as(key, "schedule", "list").exit()).isZero();

        RemoteServer.Called forbidden = as(key, "schedule", "create", "x", "--every", "1h", "--handler", "fine");
        assertThat(forbidden.exit()).isEqualTo(4);
        assertThat(forbidden.err())
                .contains("needs the scope manage", "carillon key create")
                .doesNotContain(key);

        String fresh =
                SERVER.carillon("key", "rotate", id, "--overlap", "1h").out().strip();
        assertThat(fresh).matches(KEY).isNotEqualTo(key);
        assertThat(as(fresh, "schedule", "list").exit()).isZero();
        assertThat(SERVER.carillon("key", "revoke", id).out()).isEqualTo("Revoked " + id + ".\n");
        assertThat(SERVER.carillon("key", "rotate", id).exit()).isEqualTo(5);
        assertThat(SERVER.carillon("key", "revoke", "nobody").exit()).isEqualTo(3);
        assertThat(SERVER.carillon("key", "create", "odd", "--scope", "everything")
                        .err())
                .contains("--scope is 'everything'", "read, enqueue, manage, admin");
    }

    private static RemoteServer.Called as(String key, String... words) {
        return SERVER.with(Map.of("CARILLON_URL", SERVER.url(), "CARILLON_KEY", key), words);
    }

    @Test
    void a_key_may_go_to_a_file_that_only_its_owner_reads_and_from_there_to_a_profile() throws Exception {
        Path file = folder.resolve("acme.key");

        RemoteServer.Called made =
                SERVER.carillon("project", "create", "acme", "--owner", "ann@example.org", "--to", file.toString());

        assertThat(made.exit()).as(made.err()).isZero();
        String key = Files.readString(file).strip();
        assertThat(key).matches(KEY);
        assertThat(made.out() + made.err()).doesNotContain(key);
        if (System.getProperty("os.name").startsWith("Linux"))
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
        assertThat(SERVER.carillon("project", "create", "acme").exit()).isEqualTo(5);
        assertThat(SERVER.carillon("project", "list").out()).contains("acme", "ann@example.org");
        assertThat(SERVER.carillon("project", "quota", "acme", "--max-schedules", "1")
                        .exit())
                .isZero();

        Map<String, String> bare = Map.of();
        assertThat(SERVER.with(bare, "profile", "set", "acme", "--url", SERVER.url(), "--key-file", file.toString())
                        .exit())
                .isZero();
        assertThat(SERVER.with(bare, "project", "get", "acme", "-o", "json")
                        .json()
                        .at("/quota/maxSchedules")
                        .intValue())
                .isEqualTo(1);
        assertThat(SERVER.with(bare, "project", "list").exit())
                .as("not of the house")
                .isEqualTo(4);
        assertThat(SERVER.with(bare, "profile", "list").out())
                .contains("acme", "hidden")
                .doesNotContain(key);
        assertThat(SERVER.with(bare, "schedule", "list", "--profile", "akme").err())
                .contains("Did you mean 'acme'?");
        assertThat(SERVER.with(bare, "profile", "delete", "acme").exit()).isZero();
    }

    @Test
    void a_key_is_asked_for_and_a_wrong_one_is_told() {
        RemoteServer.Called none = SERVER.with(Map.of("CARILLON_URL", SERVER.url()), "schedule", "list");
        RemoteServer.Called wrong = as("crl_wrong", "schedule", "list");

        assertThat(none.exit()).isEqualTo(4);
        assertThat(none.err()).contains("No key was sent", "CARILLON_KEY_FILE");
        assertThat(wrong.exit()).isEqualTo(4);
        assertThat(wrong.err())
                .contains("wrong, expired or revoked", SERVER.url())
                .doesNotContain("crl_wrong");
    }

    @Test
    void nobody_there_is_told_with_what_to_do() throws Exception {
        int free;
        try (ServerSocket socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }

        RemoteServer.Called away = SERVER.carillon("schedule", "list", "--url", "http://127.0.0.1:" + free);

        assertThat(away.exit()).isEqualTo(7);
        assertThat(away.err())
                .contains("No server answers at", "carillon serve")
                .doesNotContain("\tat ");
        assertThat(SERVER.carillon("schedule", "list", "--url", "localhost").exit())
                .isEqualTo(2);
    }

    @Test
    void one_who_does_not_answer_is_given_up() throws Exception {
        try (ServerSocket mute = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            RemoteServer.Called slow = SERVER.carillon(
                    "run", "enqueue", "fine", "--timeout", "200ms", "--url", "http://127.0.0.1:" + mute.getLocalPort());

            assertThat(slow.exit()).isEqualTo(6);
            assertThat(slow.err()).contains("may have been done nevertheless");
        }
    }

    @Test
    void the_key_of_a_profile_goes_to_no_other_server_and_strangers_are_known() throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        HttpServer stranger = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        stranger.createContext("/", exchange -> {
            seen.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
            byte[] page = "<html>\u001b[31mGateway".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(502, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        stranger.start();
        try {
            Path file = Files.writeString(folder.resolve("key"), SERVER.key());
            SERVER.with(Map.of(), "profile", "set", "house", "--url", SERVER.url(), "--key-file", file.toString());
            SERVER.with(Map.of(), "profile", "use", "house");
            String url = "http://127.0.0.1:" + stranger.getAddress().getPort();

            RemoteServer.Called called = SERVER.with(Map.of(), "schedule", "list", "--url", url);

            assertThat(called.exit()).isEqualTo(7);
            assertThat(called.err()).contains("does not sound like Carillon").doesNotContain("\u001b");
            assertThat(seen).containsExactly("null");
            assertThat(SERVER.with(Map.of(), "schedule", "list").exit()).isZero();
        } finally {
            stranger.stop(0);
            SERVER.with(Map.of(), "profile", "delete", "house");
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "has no such modes")
    void profiles_that_others_can_read_are_refused() throws Exception {
        Map<String, String> home = Map.of("CARILLON_HOME", folder.toString());
        SERVER.with(home, "profile", "set", "open", "--url", SERVER.url());
        Files.setPosixFilePermissions(folder.resolve("profiles.json"), PosixFilePermissions.fromString("rw-r--r--"));

        RemoteServer.Called refused = SERVER.with(home, "schedule", "list");

        assertThat(refused.exit()).isEqualTo(2);
        assertThat(refused.err()).contains("chmod 600");
    }

    @Test
    void the_doctor_looks_at_server_key_and_database_and_says_what_to_do() {
        String url = ServeCommandTest.url(SERVER.database());

        RemoteServer.Called well = SERVER.carillon("doctor", "--database-url", url);
        RemoteServer.Called away = SERVER.carillon("doctor", "--url", "http://127.0.0.1:1");
        RemoteServer.Called stranger = as("crl_wrong", "doctor", "-o", "json");

        assertThat(well.exit()).as(well.out() + well.err()).isZero();
        assertThat(well.out())
                .contains("server ", "key ", "nodes ", "1 alive", "schema ", "connections ", "PostgreSQL ")
                .contains("clock of the database  warning", "NTP")
                .doesNotContain("FAILED");
        assertThat(away.exit()).isEqualTo(1);
        assertThat(away.out()).contains("FAILED", "carillon serve");
        assertThat(stranger.exit()).isEqualTo(1);
        assertThat(stranger.json().valueStream().map(one -> one.path("state").stringValue()))
                .contains("FAILED");
    }
}
