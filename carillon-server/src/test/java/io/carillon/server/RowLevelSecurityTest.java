package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.Project;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.server.store.Transactions;
import io.carillon.testkit.TestDatabase;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * PostgreSQL isolates projects even if a statement of the server lacks its condition, or uses the API of
 * the wrong project.
 */
class RowLevelSecurityTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static Transactions transactions;
    private static RunId run;

    @BeforeAll
    static void create_data_of_alpha() {
        String alpha = SERVER.createProject("alpha");
        SERVER.createProject("beta");
        SERVER.put(alpha, "/v1/schedules/mine", "{\"when\":{\"cron\":\"* * * * *\"},\"target\":{\"handler\":\"a\"}}")
                .requireStatus(201);
        run = RunId.parse(
                SERVER.post(alpha, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\",\"key\":\"k\"}")
                        .requireStatus(201)
                        .at("/run"));
        String ended = SERVER.post(alpha, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                .at("/run");
        SERVER.post(alpha, "/v1/runs/" + ended + "/cancel", null).requireStatus(200);
        SERVER.put(alpha, "/v1/queues/default/limits", "{\"maxRunning\":2}").requireStatus(200);
        SERVER.post(
                        alpha,
                        "/v1/endpoints",
                        "{\"name\":\"mine\",\"url\":\"https://a.example/\",\"secrets\":[{\"name\":\"s\"}]}")
                .requireStatus(201);
        SERVER.send(alpha, "POST", "/v1/schedules/mine/trigger", null, "Idempotency-Key", "x")
                .requireStatus(201);
        SERVER.post(
                        alpha,
                        "/v1/bulk-actions",
                        "{\"action\":\"cancel\",\"filter\":{\"state\":\"waiting\",\"queue\":\"none\"}}")
                .requireStatus(202);
        SERVER.database()
                .execute("INSERT INTO carillon.app_user (id, issuer, subject) VALUES"
                        + " ('01a00000-0000-7000-8000-000000000001', 'https://id.example', 'ann'),"
                        + " ('01a00000-0000-7000-8000-000000000002', 'https://id.example', 'eve');"
                        + " INSERT INTO carillon.project_member (project, user_id, role, created_by) VALUES"
                        + " ('alpha', '01a00000-0000-7000-8000-000000000001', 'admin', 'test')");
        transactions = new Transactions(SERVER.database().pool(2));
    }

    @Test
    void users_are_visible_where_they_are_members_and_their_sessions_nowhere() {
        String users = "SELECT coalesce(string_agg(subject, ' '), 'none') FROM carillon.app_user";
        assertThat(RowLevelSecurityTest.<Object>inProject("alpha", connection -> first(connection, users)))
                .isEqualTo("ann");
        assertThat(RowLevelSecurityTest.<Object>inProject("beta", connection -> first(connection, users)))
                .isEqualTo("none");
        assertThat(SERVER.query("SELECT has_table_privilege('carillon_api', 'carillon.user_session', 'SELECT')::text")
                        .text())
                .isEqualTo("false");
    }

    @Test
    void is_active_where_the_migration_could_create_the_role() {
        assertThat(transactions.isRowSecurityActive()).isTrue();
        String who = inProject("alpha", connection -> first(connection, "SELECT current_user"));
        assertThat(who).isEqualTo("carillon_api");
        String after =
                inProject("alpha", connection -> first(connection, "SELECT current_setting('carillon.project')"));
        assertThat(after).isEqualTo("alpha");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "schedule",
                "run",
                "run_history",
                "lane",
                "api_key",
                "audit",
                "idempotency",
                "project",
                "bulk_action",
                "endpoint",
                "endpoint_secret",
                "project_member"
            })
    void a_statement_without_a_condition_sees_one_project_only(String table) {
        String all = SERVER.query("SELECT count(*) FROM carillon." + table + " WHERE project = 'alpha'")
                .text();
        assertThat(Integer.parseInt(all)).isPositive();
        assertThat(RowLevelSecurityTest.<Object>inProject(
                        "alpha", connection -> first(connection, "SELECT count(*) FROM carillon." + table)))
                .isEqualTo(all);
        assertThat(RowLevelSecurityTest.<Object>inProject(
                        "beta",
                        connection -> first(
                                connection, "SELECT count(*) FROM carillon." + table + " WHERE project <> 'beta'")))
                .isEqualTo("0");
    }

    @Test
    void every_table_with_a_project_has_row_level_security_or_is_inaccessible() {
        String open = SERVER.query("""
                SELECT string_agg(c.relname, ' ') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project' AND NOT a.attisdropped
                 WHERE n.nspname = 'carillon' AND c.relkind IN ('r', 'p')
                   AND has_table_privilege('carillon_api', c.oid, 'SELECT, INSERT, UPDATE, DELETE')
                   AND NOT (c.relrowsecurity AND EXISTS (
                         SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'current_project_only'
                           AND NOT p.polpermissive AND p.polcmd = '*'
                            AND pg_get_expr(p.polqual,
                              c.oid) LIKE '(project = ( SELECT current_setting(''carillon.project''%'))
                """).text();
        assertThat(open).isNull();
        assertThat(SERVER.query("""
                SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE n.nspname = 'carillon' AND NOT c.relrowsecurity AND c.relkind IN ('r', 'p')
                   AND c.relname <> 'node'
                   AND (has_table_privilege('carillon_api', c.oid, 'INSERT, UPDATE, DELETE')
                        OR (c.relname NOT IN ('event_snapshot', 'event_epoch', 'event_dispatch')
                            AND has_table_privilege('carillon_api', c.oid, 'SELECT')))
                """).text())
                .as("tables without a policy that the role may access, except node and the order of events")
                .isEqualTo("0");
    }

    @Test
    void rows_of_other_projects_are_neither_changed_nor_written() {
        for (String sql : List.of(
                "UPDATE carillon.run SET due_at = due_at + interval '1 hour' WHERE project = 'alpha'",
                "DELETE FROM carillon.schedule WHERE project = 'alpha'",
                "DELETE FROM carillon.run WHERE project = 'alpha'",
                "UPDATE carillon.api_key SET revoked_at = NULL WHERE project = 'alpha'",
                "UPDATE carillon.endpoint SET url = 'https://b.example/' WHERE project = 'alpha'",
                "DELETE FROM carillon.endpoint WHERE project = 'alpha'",
                "UPDATE carillon.endpoint_secret SET sealed = 'x' WHERE project = 'alpha'",
                "DELETE FROM carillon.endpoint_secret WHERE project = 'alpha'"))
            assertThat(RowLevelSecurityTest.<Object>inProject("beta", connection -> update(connection, sql)))
                    .as(sql)
                    .isEqualTo(0);
        for (String sql : List.of(
                "INSERT INTO carillon.lane (queue, project) VALUES ('q', 'alpha')",
                "UPDATE carillon.lane SET project = 'alpha' WHERE project = 'beta'",
                "UPDATE carillon.audit SET actor = 'unknown'",
                "DELETE FROM carillon.audit",
                "SELECT * FROM carillon.server_secret",
                "DELETE FROM carillon.project")) {
            inProject(
                    "beta",
                    connection -> update(
                            connection,
                            "INSERT INTO carillon.lane (queue, project) VALUES ('b', 'beta') ON CONFLICT DO NOTHING"));
            assertThatThrownBy(() -> inProject("beta", connection -> {
                        try (Statement statement = connection.createStatement()) {
                            return statement.execute(sql);
                        }
                    }))
                    .as(sql)
                    .hasRootCauseInstanceOf(SQLException.class);
        }
    }

    @Test
    void the_api_of_another_project_finds_nothing() {
        assertThat(RowLevelSecurityTest.<Object>inProject("beta", connection -> {
                    Project wrong = SERVER.carillon().project("alpha").in(connection);
                    assertThat(wrong.schedules().get("mine")).isEmpty();
                    assertThat(wrong.schedules().list()).isEmpty();
                    assertThat(wrong.runs().get(run)).isEmpty();
                    assertThat(wrong.runs().page(RunQuery.of(RunFilter.all()))).isEmpty();
                    assertThat(wrong.runs().explain(run)).isEmpty();
                    assertThat(wrong.queues().list()).isEmpty();
                    assertThat(wrong.schedules().delete("mine")).isFalse();
                    assertThat(wrong.runs().reschedule(run, Instant.parse("2999-01-01T00:00:00Z")))
                            .isFalse();
                    return 1;
                }))
                .isEqualTo(1);
        assertThatThrownBy(() -> inProject(
                        "beta",
                        connection -> SERVER.carillon()
                                .project("alpha")
                                .in(connection)
                                .queues()
                                .pause("default")))
                .isNotNull();
        assertThat(SERVER.carillon().project("alpha").runs().get(run)).isPresent();
        assertThat(SERVER.carillon().project("alpha").schedules().get("mine")).isPresent();
    }

    @Test
    void is_required_only_if_configured() {
        String user = "plain_" + SERVER.database().name();
        try (TestDatabase database = TestDatabase.empty()) {
            database.execute("CREATE ROLE %s LOGIN PASSWORD 'plain'; GRANT ALL ON DATABASE %s TO %s"
                    .formatted(user, database.name(), user));
            DataSource plain = byPassword(database.jdbcUrl(), user);
            try (Carillon carillon = Carillon.on(plain).build()) {
                assertThatThrownBy(() -> CarillonServer.on(carillon, plain)
                                .requireRowSecurity(true)
                                .listen("127.0.0.1", 0)
                                .start())
                        .isInstanceOf(CarillonException.class)
                        .hasMessageContaining("carillon.enable_row_security()");
                assertThat(database.query("SELECT count(*) FROM carillon.api_key")
                                .text())
                        .as("keys after the refused start")
                        .isEqualTo("0");
            }
            try (Carillon carillon = Carillon.on(plain).build();
                    CarillonServer server = CarillonServer.on(carillon, plain)
                            .listen("127.0.0.1", 0)
                            .start()) {
                assertThat(new Transactions(plain).isRowSecurityActive()).isFalse();
                String key = server.bootstrapKey().orElseThrow();
                String schedule = "{\"when\":{\"cron\":\"* * * * *\"},\"target\":{\"handler\":\"a\"}}";
                SERVER.sendTo(server.port(), key, "PUT", "/v1/schedules/mine", schedule)
                        .requireStatus(201);
                SERVER.sendTo(server.port(), key, "GET", "/v1/schedules/mine", null)
                        .requireStatus(200);
            }
        }
        SERVER.database().execute("DROP ROLE " + user);
    }

    private static DataSource byPassword(String url, String user) {
        return (DataSource) Proxy.newProxyInstance(
                RowLevelSecurityTest.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (self, method, arguments) -> method.getName().equals("getConnection")
                        ? DriverManager.getConnection(url, user, "plain")
                        : null);
    }

    private interface ConnectionWork<T> {
        T run(Connection connection) throws SQLException;
    }

    private static <T> T inProject(String project, ConnectionWork<T> work) {
        return transactions.runInProject(project, session -> work.run(session.connection()));
    }

    private static String first(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    private static int update(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        }
    }
}
