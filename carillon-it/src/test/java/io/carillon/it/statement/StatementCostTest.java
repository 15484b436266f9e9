package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
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

    /** Frequent statements that {@link StatementPlanTest#INDEXES} does not list. */
    private static final List<String> OTHER_FREQUENT = List.of(
            "AttemptEndings.PUBLISH",
            "EventDispatchRepository.DELIVER",
            "EventDispatchRepository.DISPATCH",
            "EventDispatchRepository.STORE_SNAPSHOT",
            "EventRepository.ADVANCE_VERSION",
            "EventRepository.PUBLISH",
            "EventRepository.TAKE_PUBLISH_IDS",
            "RelayRepository.ADVANCE",
            "RelayRepository.LEASE",
            "SourceRepository.MOVE",
            "GatedRunInsert.INSERT_GATED",
            "GatedRunInsert.LOCK_FIFO_KEYS",
            "NewRunRepository.FIND_KEY_HOLDERS",
            "NewRunRepository.HOLD_KEYS",
            "NewRunRepository.INSERT",
            "NewRunRepository.INSERT_AND_NOTIFY",
            "NewRunRepository.INSERT_ONE",
            "NewRunRepository.INSERT_ONE_AND_NOTIFY",
            "NewRunRepository.RELEASE_KEYS",
            "LaneBreakers.REPORT",
            "LaneLimits.SAVE_BUCKET",
            "LaneRepository.SCAN",
            "NodeRepository.PROGRESS",
            "NodeRepository.RENEW_LEASE",
            "PlanRepository.DUE",
            "LeaderToken.ACQUIRE",
            "RunRepository.CLAIM_NUMBERS",
            "RunRepository.REWRITE_CLAIM_RECORDS",
            "RunWaitRepository.CANCEL",
            "RunWaitRepository.RESOLVE",
            "WaitingRunInsert.INSERT_WAITING",
            "WorkflowSignalRepository.SEND",
            "WorkflowSignalRepository.WAKE",
            "WorkflowStepRepository.ANSWER",
            "WorkflowStepRepository.ANSWER_RUN",
            "WorkflowStepRepository.RECORD",
            "WorkflowStepRepository.RECORD_ALL",
            "WorkflowStepRepository.RECORD_RUN_WAIT");

    /** The other writing statements, as patterns of their names, with the reason why their cost matters less. */
    private static final Map<String, String> NOT_FREQUENT = Map.ofEntries(
            Map.entry("(Run|Event)Copy\\.COPY", "has no plan"),
            Map.entry(
                    "SubscriptionRepository\\.\\w+|EventDispatchRepository\\.(END_REPLAY|JOIN)",
                    "sent when a user changes a subscription, and when a cursor is no longer needed"),
            Map.entry(
                    "(RelayRepository|HeldEvents|SourceRepository)\\.\\w+",
                    "sent when a node starts or stops, when a destination rejects an event, or for operators"),
            Map.entry("EventRepository\\.BEGIN_EPOCH", "sent after a dump was restored on another server"),
            Map.entry(
                    "RunAdminRepository\\.INSERT_\\w+|PlanRepository\\.(ADVANCE|INSERT_PLANNED)",
                    "part of other statements"),
            Map.entry("(MaintenanceRepository|EndedSteps)\\.\\w+", "sent every ten minutes"),
            Map.entry(
                    "StatsRepository\\.\\w+",
                    "sent every five seconds for the rows of this process, or every ten minutes"),
            Map.entry("PostgresStorage\\.ENSURE_PROJECT", "sent once for each project"),
            Map.entry(
                    "(ScheduleRepository|NewSchedules|SchedulePauses|UnstartedTicks|Backfill)\\.\\w+",
                    "sent when a user changes or triggers a schedule"),
            Map.entry("BulkRunActions\\.\\w+|RunAdminRepository\\.REDRIVE", "sent for actions of operators"),
            Map.entry(
                    "LaneRepository\\.\\w+|LaneLimits\\.(MARK_RUNNING_AS_LIMITED|FINISH_RECOUNT)",
                    "sent when an operator changes a queue"),
            Map.entry(
                    "LaneLimits\\.MARK_PROBE|LaneBreakers\\.(OPEN_BREAKERS|DECIDE_PROBES|DELETE_REPORTS)",
                    "sent when a breaker changes"),
            Map.entry(
                    "NodeRepository\\.(REGISTER|RETIRE|DECLARE_DEAD|UNPARK|UNPARK_ALL|PARK_ISOLATED)"
                            + "|LostLeaseRescuer\\.\\w+|RunRepository\\.RECORD_ISOLATION|LeaderToken\\.RELEASE",
                    "sent when a node starts, stops or dies; up to 5,000 runs justify the cost of UNPARK_ALL"),
            Map.entry("ScheduleMaintenance\\.UPDATE_TZDATA", "sent when the rules of time zones change"));

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

    @Test
    void every_writing_statement_is_listed_as_frequent_or_not_frequent() {
        Set<String> others = new TreeSet<>(Statements.writing().keySet());
        frequent().forEach(others::remove);

        assertThat(others).allSatisfy(name -> assertThat(NOT_FREQUENT.keySet()).anyMatch(name::matches));
        assertThat(NOT_FREQUENT.keySet())
                .allSatisfy(pattern -> assertThat(others).anyMatch(name -> name.matches(pattern)));
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

    private static Set<String> frequent() {
        Set<String> frequent = new TreeSet<>(StatementPlanTest.INDEXES.keySet());
        frequent.remove("NodeRepository.UNPARK_ALL");
        frequent.addAll(OTHER_FREQUENT);
        return frequent;
    }

    private Map<String, Double> expensive() throws SQLException {
        Map<String, Double> found = new TreeMap<>();
        try (Connection connection = database.dataSource().getConnection()) {
            for (String name : frequent()) {
                for (String mode : List.of("force_generic_plan", "force_custom_plan")) {
                    double cost = GenericPlan.cost(connection, name, mode);
                    if (cost >= MAX_COST) found.merge(name, cost, Math::max);
                }
            }
        }
        return found;
    }
}
