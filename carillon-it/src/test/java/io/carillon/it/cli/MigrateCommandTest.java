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
    static void stop_it() {
        server.close();
    }

    @Test
    void creates_the_tables_once_and_then_finds_them_fit() throws Exception {
        Map<String, String> environment = Map.of("DATABASE_URL", url("first", server.password()));

        Called created = called(environment, "migrate");
        assertThat(created.out()).matches("The schema was created at number \\d+ \\(127.0.0.1:\\d+/first\\)\\.\n");
        assertThat(created.err()).isEmpty();

        assertThat(called(environment, "migrate").out()).contains(" already (");
        assertThat(called(environment, "migrate", "--validate").out()).endsWith("fits this version.\n");
        assertThat(called(environment, "migrate", "--print").out()).contains("nothing to apply");
    }

    @Test
    void validates_without_changing_anything_and_says_what_to_do() throws Exception {
        String jdbc = "%s?user=%s&password=%s"
                .formatted(server.jdbcUrl(database("second")), server.user(), server.password());

        Called refused = called(Map.of(), "migrate", "--validate", "--database-url", jdbc);

        assertThat(refused.exit()).isEqualTo(1);
        assertThat(refused.out()).isEmpty();
        assertThat(refused.err())
                .startsWith("carillon: The schema is at number 0")
                .contains("Run 'carillon migrate'");
        assertThat(called(Map.of(), "migrate", "--print", "--database-url", jdbc)
                        .out())
                .contains("CREATE TABLE carillon.run (");
    }

    @Test
    void says_why_a_database_cannot_be_reached_and_keeps_the_password_to_itself() throws Exception {
        Called refused = called(Map.of(), "migrate", "--database-url", url("third", "s3cret"));

        assertThat(refused.exit()).isEqualTo(1);
        assertThat(refused.err())
                .startsWith("carillon: No connection to 127.0.0.1:" + server.port() + "/third: ")
                .contains("password authentication failed")
                .doesNotContain("s3cret", "\tat ");
    }

    private record Called(int exit, String out, String err) {}

    private static Called called(Map<String, String> environment, String... words) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Shell shell =
                new Shell(new PrintWriter(out, true), new PrintWriter(err, true), environment, () -> Instant.EPOCH);
        int exit = Main.run(shell, words);
        return new Called(exit, out.toString(), err.toString());
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
