package io.carillon.it.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Frequent statements find their rows by an index, whatever the number of rows when the plan is made.
 * {@link RefilledQueueTest} covers the queries inside functions.
 */
class StatementPlanTest {
    /** The frequent statements and the indexes they must use; queries inside functions are not included. */
    static final Map<String, List<String>> INDEXES = new TreeMap<>(Map.ofEntries(
            Map.entry("CancelRequests.END_RELEASED", List.of()),
            Map.entry("RunAdminRepository.CANCEL_WAITING", List.of()),
            Map.entry("RunAdminRepository.CANCEL_RUNNING", List.of("run_pkey")),
            Map.entry("AttemptEndings.RETRY", List.of()),
            Map.entry("AttemptEndings.WAIT", List.of()),
            Map.entry("AttemptEndings.CANCEL", List.of()),
            Map.entry("AttemptEndings.DIE", List.of()),
            Map.entry("AttemptEndings.AWAIT", List.of()),
            Map.entry("AttemptEndings.STILL_HELD", List.of("run_pkey")),
            Map.entry("AttemptEndings.SUCCEED", List.of()),
            Map.entry("AttemptEndings.SUCCEED_IN_PLACE", List.of("Tid Scan on run")),
            Map.entry("GateRepository.MARK_ARRIVED", List.of("run_gate_arrival")),
            Map.entry("GateRepository.ARRIVING_SOON", List.of("run_gate_arrival")),
            Map.entry("GateRepository.FIND_OPEN", List.of("run_gate")),
            Map.entry("GateRepository.PASS", List.of("run_gate")),
            Map.entry("RateGates.PASS", List.of("run_gate on run r_1", "run_gate on run r_2", "Tid Scan on run")),
            Map.entry("RunAdminRepository.LOCK_MOVABLE", List.of("run_pkey")),
            Map.entry("RunAdminRepository.RESCHEDULE", List.of("Tid Scan on run")),
            Map.entry("OverlapGates.CANCEL_IDLE", List.of("Tid Scan on run")),
            Map.entry("OverlapGates.CANCEL_RUNNING", List.of("Tid Scan on run")),
            Map.entry("OverlapGates.LOCK_DECIDED", List.of("run_pkey")),
            Map.entry("OverlapGates.LOCK_PASSED", List.of("run_gate")),
            Map.entry("OverlapGates.DROP", List.of("Tid Scan on run")),
            Map.entry("OverlapGates.KEEP_WAITING", List.of("Tid Scan on run")),
            Map.entry("OverlapGates.PASS", List.of("Tid Scan on run")),
            Map.entry("OverlapGates.WAITING_RUNS", List.of("run_gate", "schedule_pkey")),
            Map.entry("NewRunRepository.FIND_DUPLICATES", List.of("run_pkey", "run_handler_key")),
            Map.entry("LaneLimits.LANE_CAPACITY", List.of("run_limited")),
            Map.entry("LaneLimits.CLAIM_LIMITED", List.of("Tid Scan on run")),
            Map.entry("LaneLimits.CLAIM_LIMITED_RUN", List.of("run_pkey", "Tid Scan on run")),
            Map.entry("LaneRepository.QUEUE_HEAD", List.of("run_parked")),
            Map.entry("NodeRepository.HEARTBEAT", List.of("run_leased", "run_parked")),
            Map.entry("NodeRepository.UNPARK_ALL", List.of("run_parked")),
            Map.entry("ScheduleMaintenance.ADAPTABLE", List.of("schedule_adaptive", "run_lane_handler")),
            Map.entry("ScheduleMaintenance.ADAPT", List.of("schedule_pkey")),
            Map.entry("ScheduleMaintenance.FAILING", List.of("schedule_next")),
            Map.entry("ScheduleMaintenance.OUTDATED_TZDATA", List.of("schedule_tzdata")),
            Map.entry("ScheduleMaintenance.PAUSES_OVER", List.of("schedule_paused_until")),
            Map.entry(
                    "PlanRepository.HAS_WORK",
                    List.of(
                            "schedule_next",
                            "run_start_by",
                            "schedule_paused_until",
                            "schedule_tzdata",
                            "schedule_adaptive")),
            Map.entry("PlanRepository.LATE_TICKS", List.of("run_instant")),
            Map.entry("PlanRepository.WITH_LATE_TICKS", List.of("run_start_by", "schedule_pkey")),
            Map.entry("PlanRepository.LOCK_LATE", List.of("schedule_pkey", "run_pkey")),
            Map.entry("PlanRepository.RESOLVE_MISSED", List.of("schedule_pkey", "Tid Scan on run")),
            Map.entry("PlanRepository.WRITE", List.of("schedule_pkey on schedule\n", "schedule_pkey on schedule s_1")),
            Map.entry("RunRepository.CLAIM", List.of("Tid Scan on run")),
            Map.entry("RunRepository.CLAIM_RUN", List.of("run_pkey", "Tid Scan on run")),
            Map.entry("RunRepository.CLAIM_ISOLATED", List.of("run_parked")),
            Map.entry("RunRepository.HELD_RUNS", List.of("run_pkey")),
            Map.entry("RunRepository.FIND_ISOLATED", List.of("run_parked")),
            Map.entry("RunRepository.HAND_BACK", List.of()),
            Map.entry("RunRepository.PARK_RUNNING", List.of()),
            Map.entry("RunRepository.RELEASE_WITHOUT_HANDLER", List.of()),
            Map.entry("RunRows.SELECT_LIVE", List.of("run_pkey")),
            Map.entry("LostLeaseRescuer.EXPIRED", List.of("run_leased")),
            Map.entry("LostLeaseRescuer.HELD_BY_CLAIM_RECORDS", List.of("run_pkey")),
            Map.entry("LostLeaseRescuer.QUARANTINE", List.of("Tid Scan on run")),
            Map.entry("LostLeaseRescuer.RELEASE", List.of("Tid Scan on run")),
            Map.entry("LostLeaseRescuer.LOCK_LOST", List.of("Tid Scan on run"))));

    // Reads the first entry of an index and stops there.
    private static final Pattern FIRST_ENTRY =
            Pattern.compile("Limit\\n\\s*->  Index (Only )?Scan using [^\\n]++(?!\\n\\s*(Filter|Index Cond))");

    // Has no index condition, or uses the lane index without the queue.
    private static final Pattern WHOLE_INDEX =
            Pattern.compile("Index (Only )?Scan using \\S+ on (run|schedule)\\b[^\\n]*\\n\\s*(?!\\s|Index Cond)"
                    + "|Index (Only )?Scan using run_lane_handler on run\\b[^\\n]*\\n\\s*Index Cond: (?![^\\n]*queue)");

    static final String NODE = """
            INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)
            VALUES ('00000000-0000-7000-8000-000000000001', 'n', 'host', 1, '1', 1, '{mail.send}', 50, 'notify')
            """;

    // Of ten runs, six wait in one lane, one in a thousand other lanes, two are due later, and one is parked because no
    // node has its handler.
    static final String RUNS = """
            INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name,
              codec, payload, key, parked)
            SELECT CASE WHEN i %% 10 = 6 THEN 'p' || i %% 1000 ELSE 'default' END, gen_random_uuid(), 'mail', 1, due,
                   CASE WHEN i %% 10 = 9 THEN 'infinity' ELSE due END, due::date, 'direct', 'handler',
                   CASE WHEN i %% 10 = 9 THEN 'unknown.work'
                     ELSE 'mail.send' END, 'json', convert_to(repeat('x', 90), 'UTF8'),
                   CASE WHEN i %% 10 = 0 THEN 'k' || i END, CASE WHEN i %% 10 = 9 THEN 'no-handler' END
              FROM (SELECT i, carillon.clock() + CASE WHEN i %% 10 IN (7, 8) THEN 1
                ELSE -1 END * i * interval '5 ms' AS due
                      FROM generate_series(1, %d) i) x
            """;

    static final String SCHEDULES = """
            INSERT INTO carillon.schedule (project, id, name, kind, expression, zone, gap, repeat, queue, priority,
              target, target_name, payload, codec, missed,
                                           missed_cap, missed_spread, grace, catch_up, overlap, cursor, next_at, tzdata)
            SELECT 'default', gen_random_uuid(), 's' || i, 'cron', '0 * * * *', 'UTC', 'run-after', 'first', 'mail', 1,
                   'handler', 'mail.send', '{}',
                   'json', 'run-once', 100, '0', '5 min', '24 h', 'allow', carillon.clock(),
                   carillon.clock() + i * interval '1 s', 'x'
              FROM generate_series(1, %d) i
            """;

    // One in twenty waits behind a gate: half of these behind the same gate, the others each behind its own.
    static final String GATED = """
            UPDATE carillon.run SET ready_at = 'infinity', parked = 'gate', gate_position = 1,
                   gate_arrival_at = CASE WHEN priority = 1 THEN due_at END,
                   gate_key = 'fifo:' || CASE WHEN substr(id::text, 2, 1) < '8' THEN 'one' ELSE id::text END
             WHERE id::text < '1' AND parked IS NULL AND key IS NULL
            """;

    private final TestDatabase database = TestDatabase.migrated();

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void uses_indexes_when_few_of_many_rows_match() throws SQLException {
        fill(40_000, 10_000);
        database.execute("ANALYZE");

        assertThat(scans()).isEmpty();
        assertThat(withoutTheirIndex()).isEmpty();
        assertThat(text("PlanRepository.DUE")).contains("schedule_next").doesNotContain("Seq Scan on schedule");
    }

    @Test
    void statements_executed_per_run_use_a_cached_plan() throws SQLException {
        fill(40_000, 1_000);
        database.execute("ANALYZE");
        try (Connection connection = database.dataSource().getConnection()) {
            for (String name :
                    List.of("RunRepository.CLAIM", "AttemptEndings.SUCCEED_IN_PLACE", "LaneRepository.QUEUE_HEAD"))
                assertThat(GenericPlan.isCached(connection, name)).as(name).isTrue();
        }
    }

    @Test
    void uses_indexes_on_an_empty_queue_that_was_not_analyzed() throws SQLException {
        fill(0, 10_000);

        assertThat(scans()).isEmpty();
    }

    @Test
    void uses_indexes_on_an_empty_queue_that_was_vacuumed() throws SQLException {
        fill(3_000, 10_000);
        database.execute("DELETE FROM carillon.run");
        try (Connection connection = database.dataSource().getConnection();
                var statement = connection.createStatement()) {
            statement.execute("VACUUM ANALYZE carillon.run");
        }

        assertThat(scans()).isEmpty();
        assertThat(wholeIndexes()).isEmpty();
        assertThat(withoutTheirIndex()).isEmpty();
    }

    @Tag("slow")
    @Test
    void uses_indexes_with_a_million_rows_and_prints_execution_times() throws SQLException {
        fill(1_000_000, 1_000_000);
        database.execute("ANALYZE");
        try (Connection connection = database.dataSource().getConnection()) {
            for (String name : Stream.concat(INDEXES.keySet().stream(), Stream.of("PlanRepository.DUE"))
                    .toList()) {
                GenericPlan.of(connection, name, true);
                List<String> plan = GenericPlan.of(connection, name, true);
                System.out.println(name + ": " + plan.get(plan.size() - 1).strip());
            }
        }

        assertThat(scans()).isEmpty();
        assertThat(withoutTheirIndex()).isEmpty();
    }

    private void fill(int runs, int schedules) {
        database.execute("INSERT INTO carillon.lane (queue, project, max_running) VALUES ('mail', 'default', 10)");
        database.execute(NODE);
        database.execute(RUNS.formatted(runs));
        database.execute(GATED);
        database.execute(SCHEDULES.formatted(schedules));
    }

    /**
     * Returns the plans that read a whole table. PostgreSQL keeps a generic plan made while the queue is empty until
     * the table is analyzed.
     */
    private Map<String, String> scans() throws SQLException {
        return plans((name, plan) -> plan.matches("(?s).*Seq Scan on (run|schedule)\\b.*"));
    }

    /** Returns the plans that read a whole index, except reads that stop at the first entry. */
    private Map<String, String> wholeIndexes() throws SQLException {
        return plans((name, plan) ->
                WHOLE_INDEX.matcher(FIRST_ENTRY.matcher(plan).replaceAll("")).find());
    }

    private Map<String, String> withoutTheirIndex() throws SQLException {
        return plans((name, plan) -> !INDEXES.get(name).stream().allMatch(plan::contains));
    }

    private Map<String, String> plans(BiPredicate<String, String> which) throws SQLException {
        Map<String, String> found = new TreeMap<>();
        for (String name : INDEXES.keySet()) {
            String plan = text(name);
            if (which.test(name, plan)) found.put(name, plan);
        }
        return found;
    }

    private String text(String name) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            return String.join("\n", GenericPlan.of(connection, name, false));
        }
    }
}
