package io.carillon.it.migration;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.postgres.migration.Migrator;
import io.carillon.testkit.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** From keys of queues to keys of handlers, on a database in which two queues have the same key. */
class KeysByHandlerTest {
    private static final String RUN = """
            INSERT INTO carillon.run (project, id, queue, class, due_at, ready_at, day, origin, target, target_name, codec, payload, key, created_at)
            VALUES ('default', '%s', '%s', 2, 'infinity', 'infinity', '2026-03-02', 'direct', 'handler', '%s', 'json', '', '%s', '%s');
            """;

    private final TestDatabase database = TestDatabase.migrated();

    @AfterEach
    void drop() {
        database.close();
    }

    private static String id(int number) {
        return "00000000-0000-7000-8000-00000000000" + number;
    }

    private List<String> texts(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> texts = new ArrayList<>();
            while (rows.next()) texts.add(rows.getString(1));
            return texts;
        }
    }

    /** As the version before left it. */
    private void before() {
        database.execute("DROP INDEX carillon.run_handler_key");
        database.execute("CREATE UNIQUE INDEX run_key ON carillon.run (project, queue, key) WHERE key IS NOT NULL");
    }

    /** Applies the one file, statement by statement: it runs without a transaction. */
    private void migrate() throws SQLException, IOException {
        try (InputStream file = Migrator.class.getResourceAsStream(
                        "/io/carillon/postgres/migrations/0018_keys_by_handler.sql");
                Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            String script = new String(requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
            for (String sql : script.replaceAll("(?m)^--.*$", "").split(";\\s*\n", -1))
                if (!sql.isBlank()) statement.execute(sql);
        }
    }

    @Test
    void of_two_runs_with_the_same_key_the_elder_keeps_it_and_none_is_lost() throws Exception {
        before();
        database.execute(RUN.formatted(id(1), "slow", "mail", "k", "2026-03-02 12:00Z"));
        database.execute(RUN.formatted(id(2), "default", "mail", "k", "2026-03-02 11:00Z"));
        database.execute(RUN.formatted(id(3), "other", "sms", "k", "2026-03-02 10:00Z"));

        migrate();

        assertThat(
                        texts(
                                "SELECT queue || ' ' || target_name || ' ' || coalesce(key, '-') FROM carillon.run ORDER BY id"))
                .containsExactly("slow mail -", "default mail k", "other sms k");
        assertThat(texts("SELECT indexrelid::regclass::text FROM pg_index WHERE indisunique AND indisvalid"
                        + " AND indrelid = 'carillon.run'::regclass AND indexrelid::regclass::text LIKE '%key'"
                        + " AND NOT indisprimary"))
                .containsExactly("run_handler_key");
    }

    @Test
    void windows_go_with_the_handler_of_their_run() throws Exception {
        before();
        database.execute(RUN.formatted(id(1), "default", "mail", "a", "2026-03-02 12:00Z"));
        database.execute(RUN.formatted(id(2), "slow", "mail", "b", "2026-03-02 12:00Z"));
        database.execute("INSERT INTO carillon.key_hold (project, queue, key, run_id, until) VALUES"
                + " ('default', 'default', 'a', '" + id(1) + "', '2099-01-01'),"
                + " ('default', 'mail', 'a', '" + id(9) + "', '2098-01-01'),"
                + " ('default', 'slow', 'b', '" + id(2) + "', '2099-01-01')");

        migrate();

        assertThat(texts("SELECT queue || ' ' || key || ' ' || run_id FROM carillon.key_hold ORDER BY 1"))
                .containsExactly("mail a " + id(9), "mail b " + id(2));
    }
}
