package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.cli.Main;
import io.carillon.cli.shell.Shell;
import io.carillon.embedded.EmbeddedPostgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** {@code carillon migrate} against a real server. */
class MigrateCommandTest {
    private static EmbeddedPostgres server;

    @BeforeAll
    static void start_a_server() {
        server = EmbeddedPostgres.temporary().start();
    }

    @AfterAll
    static void stop_the_server() {
        server.close();
    }

    @Test
    void creates_the_tables_once_and_then_reports_that_they_are_up_to_date() throws Exception {
        Map<String, String> environment = Map.of("DATABASE_URL", url("first", server.password()));

        MigrateResult created = run(environment, "migrate");
        assertThat(created.out()).matches("The schema was created at version \\d+ \\(127.0.0.1:\\d+/first\\)\\.\n");
        assertThat(created.err()).isEmpty();

        assertThat(run(environment, "migrate").out()).contains(" already at version ");
        assertThat(run(environment, "migrate", "--validate").out()).endsWith("fits this release.\n");
        assertThat(run(environment, "migrate", "--print").out()).contains("nothing to apply");
    }

    @Test
    void validates_without_changing_the_database_and_gives_advice() throws Exception {
        String jdbc = "%s?user=%s&password=%s"
                .formatted(server.jdbcUrl(database("second")), server.user(), server.password());

        MigrateResult refused = run(Map.of(), "migrate", "--validate", "--database-url", jdbc);

        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.out()).isEmpty();
        assertThat(refused.err())
                .startsWith("carillon: The schema is at version 0")
                .contains("Run 'carillon migrate'");
        assertThat(run(Map.of(), "migrate", "--print", "--database-url", jdbc).out())
                .contains("CREATE TABLE carillon.run (");
    }

    @Test
    void reports_why_a_database_cannot_be_reached_without_its_password() throws Exception {
        MigrateResult refused = run(Map.of(), "migrate", "--database-url", url("third", "s3cret"));

        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err())
                .startsWith("carillon: Cannot connect to 127.0.0.1:" + server.port() + "/third: ")
                .contains("password authentication failed")
                .doesNotContain("s3cret", "\tat ");
    }

    @Test
    void a_database_that_does_not_exist_is_to_be_created() throws Exception {
        String url = url("fourth", server.password()).replace("/fourth", "/fifth");

        assertThat(run(Map.of(), "migrate", "--database-url", url).err())
                .endsWith("/fifth: FATAL: database \"fifth\" does not exist."
                        + " Create it, or correct its name in the URL.\n");
    }

    private record MigrateResult(int exitCode, String out, String err) {}

    private static MigrateResult run(Map<String, String> environment, String... words) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Shell shell =
                new Shell(new PrintWriter(out, true), new PrintWriter(err, true), environment, () -> Instant.EPOCH);
        int exit = Main.run(shell, words);
        return new MigrateResult(exit, out.toString(), err.toString());
    }

    private static String url(String name, String password) throws SQLException {
        return "postgres://%s:%s@127.0.0.1:%d/%s".formatted(server.user(), password, server.port(), database(name));
    }

    private static String database(String name) throws SQLException {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl(), server.user(), server.password());
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + name);
        }
        return name;
    }
}
