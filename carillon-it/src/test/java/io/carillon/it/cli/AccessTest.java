package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.testkit.TestDatabase;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Keys, projects and profiles, and the errors for missing rights and unreachable servers. */
class AccessTest {
    private static final String TIMEOUTS = "&connectTimeout=5&socketTimeout=10&loginTimeout=30";
    private static final String KEY = "crl_\\w{12}_\\w{32}_\\w{6}";

    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    @TempDir
    Path folder;

    @Test
    void a_key_is_shown_once_works_is_rotated_and_revoked() {
        RemoteServer.CommandResult made = SERVER.run("key", "create", "reader", "--scope", "read");
        String key = made.out().strip();
        String id = key.substring(4, 16);

        assertThat(key).matches(KEY);
        assertThat(made.err()).contains("only once");
        assertThat(SERVER.run("key", "list").out()).contains(id, "reader").doesNotContain(key);
        assertThat(SERVER.run("key", "get", id, "-o", "yaml").out()).doesNotContain(key);
        assertThat(runAs(key, "schedule", "list").exitCode()).isZero();

        RemoteServer.CommandResult forbidden =
                runAs(key, "schedule", "create", "x", "--every", "1h", "--handler", "fine");
        assertThat(forbidden.exitCode()).isEqualTo(4);
        assertThat(forbidden.err())
                .contains("needs one of the scopes admin, manage", "carillon key create")
                .doesNotContain(key);

        String fresh = SERVER.run("key", "rotate", id, "--overlap", "1h").out().strip();
        assertThat(fresh).matches(KEY).isNotEqualTo(key);
        assertThat(runAs(fresh, "schedule", "list").exitCode()).isZero();
        assertThat(SERVER.run("key", "revoke", id).out()).isEqualTo("Revoked " + id + ".\n");
        assertThat(SERVER.run("key", "rotate", id).exitCode()).isEqualTo(5);
        assertThat(SERVER.run("key", "revoke", "unknown").exitCode()).isEqualTo(3);
        assertThat(SERVER.run("key", "create", "odd", "--scope", "everything").err())
                .contains("(was 'everything')", "read, enqueue, manage, admin");
    }

    @Test
    void a_key_is_limited_and_a_leaked_key_is_revoked_by_its_value() throws Exception {
        String key = SERVER.run(
                        "key",
                        "create",
                        "limited",
                        "--scope",
                        "enqueue",
                        "--queue",
                        "orders.*",
                        "--handler",
                        "fine",
                        "--allow-address",
                        "127.0.0.0/8,::1")
                .out()
                .strip();
        assertThat(runAs(key, "run", "enqueue", "fine", "--queue", "orders.eu").exitCode())
                .isZero();
        assertThat(runAs(key, "run", "enqueue", "fine", "--queue", "other").err())
                .contains("restricted to the queues [orders.*] and the handlers [fine]");

        assertThat(SERVER.run("key", "create", "hooks", "--scope", "read", "--endpoint", "shop.*,mail", "-o", "json")
                        .json()
                        .at("/endpoints")
                        .toString())
                .isEqualTo("[\"shop.*\",\"mail\"]");

        Path file = Files.writeString(folder.resolve("leaked"), key + "\n");
        RemoteServer.CommandResult revoked =
                SERVER.runWith(Map.of("CARILLON_URL", SERVER.url()), "key", "revoke-by-value", file.toString());
        assertThat(revoked.exitCode()).as(revoked.err()).isZero();
        assertThat(SERVER.run("key", "get", key.substring(4, 16), "-o", "json")
                        .json()
                        .has("revokedAt"))
                .isTrue();
    }

    private static RemoteServer.CommandResult runAs(String key, String... words) {
        return SERVER.runWith(Map.of("CARILLON_URL", SERVER.url(), "CARILLON_KEY", key), words);
    }

    @Test
    void a_key_is_written_to_a_file_that_only_its_owner_reads_and_read_into_a_profile() throws Exception {
        Path file = folder.resolve("acme.key");

        RemoteServer.CommandResult made = SERVER.run("project", "create", "acme", "--to", file.toString());

        assertThat(made.exitCode()).as(made.err()).isZero();
        String key = Files.readString(file).strip();
        assertThat(key).matches(KEY);
        assertThat(made.out() + made.err()).doesNotContain(key);
        if (System.getProperty("os.name").startsWith("Linux"))
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
        assertThat(SERVER.run("project", "create", "acme").exitCode()).isEqualTo(5);
        assertThat(SERVER.run("project", "list").out()).contains("acme");
        assertThat(SERVER.run("project", "quota", "acme", "--max-schedules", "1")
                        .exitCode())
                .isZero();

        Map<String, String> bare = Map.of();
        assertThat(SERVER.runWith(bare, "profile", "set", "acme", "--url", SERVER.url(), "--key-file", file.toString())
                        .exitCode())
                .isZero();
        assertThat(SERVER.runWith(bare, "project", "get", "acme", "-o", "json")
                        .json()
                        .at("/quota/maxSchedules")
                        .intValue())
                .isEqualTo(1);
        assertThat(SERVER.runWith(bare, "project", "list").out())
                .as("a project key has no access to other projects")
                .contains("acme")
                .doesNotContain("default");
        assertThat(SERVER.runWith(bare, "project", "create", "other").exitCode())
                .isEqualTo(4);
        assertThat(SERVER.runWith(bare, "profile", "list").out())
                .contains("acme", "hidden")
                .doesNotContain(key);
        assertThat(SERVER.runWith(bare, "schedule", "list", "--profile", "akme").err())
                .contains("Did you mean 'acme'?");
        assertThat(SERVER.runWith(bare, "profile", "delete", "acme").exitCode()).isZero();
    }

    @Test
    void a_missing_key_and_a_wrong_key_are_reported() {
        RemoteServer.CommandResult none = SERVER.runWith(Map.of("CARILLON_URL", SERVER.url()), "schedule", "list");
        RemoteServer.CommandResult wrong = runAs("crl_wrong", "schedule", "list");

        assertThat(none.exitCode()).isEqualTo(4);
        assertThat(none.err()).contains("No API key was sent", "CARILLON_KEY_FILE");
        assertThat(wrong.exitCode()).isEqualTo(4);
        assertThat(wrong.err())
                .contains("wrong, expired or revoked", SERVER.url())
                .doesNotContain("crl_wrong");
    }

    @Test
    void an_unreachable_server_is_reported_with_advice() throws Exception {
        int free;
        try (ServerSocket socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }

        RemoteServer.CommandResult unreachable = SERVER.run("schedule", "list", "--url", "http://127.0.0.1:" + free);

        assertThat(unreachable.exitCode()).isEqualTo(7);
        assertThat(unreachable.err())
                .contains("No server answers at", "carillon serve")
                .doesNotContain("\tat ");
        assertThat(SERVER.run("schedule", "list", "--url", "localhost").exitCode())
                .isEqualTo(2);
    }

    @Test
    void a_server_that_does_not_respond_times_out() throws Exception {
        try (ServerSocket mute = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            RemoteServer.CommandResult slow = SERVER.run(
                    "run", "enqueue", "fine", "--timeout", "200ms", "--url", "http://127.0.0.1:" + mute.getLocalPort());

            assertThat(slow.exitCode()).isEqualTo(6);
            assertThat(slow.err()).contains("may have been executed");
        }
    }

    @Test
    void the_key_of_a_profile_is_sent_to_no_other_server_and_other_software_is_recognised() throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        HttpServer otherServer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        otherServer.createContext("/", exchange -> {
            seen.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
            byte[] page = "<html>\u001b[31mGateway".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(502, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        otherServer.start();
        try {
            Path file = folder.resolve("key");
            SecretFiles.write(file, SERVER.key());
            SERVER.runWith(Map.of(), "profile", "set", "server", "--url", SERVER.url(), "--key-file", file.toString());
            SERVER.runWith(Map.of(), "profile", "use", "server");
            String url = "http://127.0.0.1:" + otherServer.getAddress().getPort();

            RemoteServer.CommandResult commandResult = SERVER.runWith(Map.of(), "schedule", "list", "--url", url);

            assertThat(commandResult.exitCode()).isEqualTo(7);
            assertThat(commandResult.err())
                    .contains("is not from a Carillon server")
                    .doesNotContain("\u001b");
            assertThat(seen).containsExactly("null");
            assertThat(SERVER.runWith(Map.of(), "schedule", "list").exitCode()).isZero();
        } finally {
            otherServer.stop(0);
            SERVER.runWith(Map.of(), "profile", "delete", "server");
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has no POSIX file modes")
    void profiles_that_others_can_read_are_rejected() throws Exception {
        Map<String, String> home = Map.of("CARILLON_HOME", folder.toString());
        SERVER.runWith(home, "profile", "set", "open", "--url", SERVER.url());
        assertThat(SERVER.runWith(home, "profile", "delete", "opne").err())
                .isEqualTo("carillon: Profile 'opne' does not exist. Did you mean 'open'? 'carillon profile list' shows"
                        + " those that exist.\n");
        Files.setPosixFilePermissions(folder.resolve("profiles.json"), PosixFilePermissions.fromString("rw-r--r--"));

        RemoteServer.CommandResult refused = SERVER.runWith(home, "schedule", "list");

        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err()).contains("chmod 600");
    }

    @Test
    void the_doctor_checks_server_key_and_database_and_gives_advice() {
        String url = ServeCommandTest.url(SERVER.database());

        RemoteServer.CommandResult healthy = SERVER.runAt(Instant.EPOCH, "doctor", "--database-url", url);
        RemoteServer.CommandResult unreachable = SERVER.run("doctor", "--url", "http://127.0.0.1:1");
        RemoteServer.CommandResult wrongKey = runAs("crl_wrong", "doctor", "-o", "json");

        assertThat(healthy.exitCode()).as(healthy.out() + healthy.err()).isZero();
        assertThat(healthy.out())
                .contains("server ", "key ", "nodes ", "1 alive", "schema ", "connections ", "PostgreSQL ")
                .contains("clock of the database  warning", "NTP")
                .doesNotContain("FAILED");
        assertThat(unreachable.exitCode()).isEqualTo(1);
        assertThat(unreachable.out()).contains("FAILED", "carillon serve");
        assertThat(wrongKey.exitCode()).isEqualTo(1);
        assertThat(wrongKey.json().valueStream().map(one -> one.path("state").stringValue()))
                .contains("FAILED");
    }

    @Test
    void the_doctor_names_the_timeouts_that_the_url_lacks() {
        String bare = ServeCommandTest.url(SERVER.database());

        assertThat(doctorLine("timeouts", bare))
                .startsWith("warning: missing or 0 in the database URL: socketTimeout, loginTimeout;")
                .contains("'carillon serve' sets timeouts", "an application with this URL does not");
        assertThat(doctorLine("timeouts", bare + "&connectTimeout=0&socketTimeout=10"))
                .startsWith("warning: missing or 0 in the database URL: connectTimeout, loginTimeout;");
        assertThat(doctorLine("timeouts", bare.replaceFirst("//([^/,]+)/", "//$1,$1/") + TIMEOUTS))
                .startsWith("warning: missing or 0 in the database URL: targetServerType;");
        assertThat(doctorLine("timeouts", bare + TIMEOUTS)).startsWith("ok: ");
    }

    @Test
    void the_doctor_warns_about_a_low_jit_threshold() {
        try (TestDatabase database = TestDatabase.migrated()) {
            String url = ServeCommandTest.url(database);
            String alter = "ALTER DATABASE \"" + database.name() + "\" ";

            database.execute(alter + "SET jit = on");
            database.execute(alter + "SET jit_above_cost = 1000");
            assertThat(doctorLine("jit", url))
                    .startsWith("warning: jit_above_cost is 1000:")
                    .contains("at least 100000, or jit to off");

            database.execute(alter + "SET jit_above_cost = 100000");
            assertThat(doctorLine("jit", url)).startsWith("ok: ");
            database.execute(alter + "SET jit_above_cost = 1000");
            database.execute(alter + "SET jit = off");
            assertThat(doctorLine("jit", url)).startsWith("ok: ");
        }
    }

    /** Returns the state and the finding of one check of this database. */
    private static String doctorLine(String check, String url) {
        RemoteServer.CommandResult result = SERVER.run("doctor", "--database-url", url, "-o", "json");
        return result.json()
                .valueStream()
                .filter(line -> line.path("check").stringValue().equals(check))
                .map(line -> line.path("state").stringValue() + ": "
                        + line.path("finding").stringValue())
                .collect(Collectors.joining("\n"));
    }
}
