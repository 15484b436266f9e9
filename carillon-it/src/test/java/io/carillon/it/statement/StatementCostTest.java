package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * PostgreSQL compiles a statement (JIT) at each execution if its estimated cost exceeds {@code jit_above_cost}, 100,000
 * by default. Compiling takes some 300 ms for a statement that runs 1 ms. Frequent statements must stay below half of
 * that limit with a million analyzed rows and related tables that were never analyzed.
 */
class StatementCostTest {
    private static final double MAX_COST = 50_000;

    private final TestDatabase database = TestDatabase.migrated();

    @AfterEach
    void close() {
        database.close();
    }

    /**
     * The planner takes the row density from the catalog and the number of pages from the file, so a small table with
     * raised row counts is enough here.
     */
    @Test
    void no_frequent_statement_exceeds_the_jit_cost_limit() throws SQLException {
        fill(40_000, 10_000);
        database.execute("UPDATE pg_class SET reltuples = reltuples * 25 WHERE oid = 'carillon.run'::regclass"
                + " OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'carillon.run'::regclass)");
        database.execute("UPDATE pg_class SET reltuples = reltuples * 100 WHERE oid = 'carillon.schedule'::regclass"
                + " OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'carillon.schedule'::regclass)");

        assertThat(expensive()).isEmpty();
    }

    @Tag("slow")
    @Test
    void no_frequent_statement_exceeds_the_jit_cost_limit_with_a_million_rows() throws SQLException {
        fill(1_000_000, 1_000_000);

        assertThat(expensive()).isEmpty();
    }

    /**
     * The queries inside a function are planned separately, and their cost is not part of the caller's estimate. So
     * functions must switch JIT off.
     */
    @Test
    void functions_that_read_runs_switch_jit_off() throws SQLException {
        assertThat(database.query("""
                SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
                 WHERE n.nspname = 'carillon' AND p.prolang = (SELECT oid FROM pg_language WHERE lanname = 'plpgsql')
                   AND p.prosrc LIKE '%carillon.run %' AND p.prorettype <> 'trigger'::regtype
                   AND NOT coalesce('jit=off' = ANY (p.proconfig), false) ORDER BY 1
                """).texts()).isEmpty();
    }

    @Test
    void a_heartbeat_reads_a_bounded_number_of_cancel_requests() throws SQLException {
        fill(20_000, 1);
        database.execute("UPDATE carillon.run SET owner = gen_random_uuid(), parked = 'running'");
        database.execute("INSERT INTO carillon.cancel_request (project, run_id, reason) SELECT project, id, 'enough'"
                + " FROM carillon.run LIMIT 20000");
        database.execute("VACUUM ANALYZE carillon.run, carillon.cancel_request");
        database.execute("SELECT carillon.has_due_cancel_requests()");

        String plan = String.join(
                " ",
                database.query("EXPLAIN (ANALYZE, BUFFERS, FORMAT TEXT) SELECT carillon.has_due_cancel_requests()")
                        .texts());

        Matcher pages = Pattern.compile("shared hit=(\\d+)").matcher(plan);
        assertThat(pages.find()).as(plan).isTrue();
        assertThat(Integer.parseInt(pages.group(1))).as(plan).isLessThan(5_000);
    }

    private void fill(int runs, int schedules) {
        database.execute("INSERT INTO carillon.lane (queue, project, max_running) VALUES ('mail', 'default', 10)");
        database.execute(StatementPlanTest.NODE);
        database.execute(StatementPlanTest.RUNS.formatted(runs));
        database.execute(StatementPlanTest.GATED);
        database.execute(StatementPlanTest.SCHEDULES.formatted(schedules));
        database.execute("ANALYZE carillon.run, carillon.schedule");
    }

    private Map<String, Double> expensive() throws SQLException {
        List<String> hot = new ArrayList<>(StatementPlanTest.INDEXES.keySet());
        // Sent when a node starts and after a rescue, for up to 5,000 runs per handler: rare, and the
        // cost is justified.
        hot.remove("NodeRepository.UNPARK_ALL");
        hot.addAll(List.of("PlanRepository.DUE", "NodeRepository.PROGRESS"));
        Map<String, Double> found = new TreeMap<>();
        try (Connection connection = database.dataSource().getConnection()) {
            for (String name : hot) {
                for (String mode : List.of("force_generic_plan", "force_custom_plan")) {
                    double cost = GenericPlan.cost(connection, name, mode);
                    if (cost >= MAX_COST) found.merge(name, cost, Math::max);
                }
            }
        }
        return found;
    }
}
