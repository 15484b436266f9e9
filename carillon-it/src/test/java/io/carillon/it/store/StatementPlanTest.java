package io.carillon.it.store;

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
 * The statements that run often find their rows by an index, however many rows there are, were or will be. What functions read for them is the part of
 * {@link FullAgainTest}.
 */
class StatementPlanTest {
    /** The hot statements, and the indexes they must use; what is inside a function is not theirs. */
    static final Map<String, List<String>> INDEXES = new TreeMap<>(Map.ofEntries(
            Map.entry("CancelOrders.END_LET_GO", List.of()),
            Map.entry("DeskRepository.CANCEL_WAITING", List.of()),
            Map.entry("DeskRepository.CANCEL_RUNNING", List.of("run_pkey")),
            Map.entry("Endings.AGAIN", List.of()),
            Map.entry("Endings.CANCEL", List.of()),
            Map.entry("Endings.DIE", List.of()),
            Map.entry("Endings.AWAIT", List.of()),
            Map.entry("Endings.STILL_HELD", List.of("run_pkey")),
            Map.entry("Endings.SUCCEED", List.of()),
            Map.entry("Endings.SUCCEED_IN_PLACE", List.of("Tid Scan on run")),
            Map.entry("GateRepository.ARRIVE", List.of("run_gate_at")),
            Map.entry("GateRepository.ARRIVING", List.of("run_gate_at")),
            Map.entry("GateRepository.OPEN", List.of("run_gate")),
            Map.entry("GateRepository.PASS", List.of("run_gate")),
            Map.entry("RateGates.LET_START", List.of("run_gate on run r_1", "run_gate on run r_2", "Tid Scan on run")),
            Map.entry("DeskRepository.LOCK_MOVABLE", List.of("run_pkey")),
            Map.entry("DeskRepository.RESCHEDULE", List.of("Tid Scan on run")),
            Map.entry("OverlapGates.CANCEL_IDLE", List.of("Tid Scan on run")),
            Map.entry("OverlapGates.CANCEL_RUNNING", List.of("Tid Scan on run")),
            Map.entry("OverlapGates.LOCK_DECIDED", List.of("run_pkey")),
            Map.entry("OverlapGates.LOCK_THROUGH", List.of("run_gate")),
            Map.entry("OverlapGates.DROP", List.of("Tid Scan on run")),
            Map.entry("OverlapGates.KEEP_WAITING", List.of("Tid Scan on run")),
            Map.entry("OverlapGates.LET_THROUGH", List.of("Tid Scan on run")),
            Map.entry("OverlapGates.LINE", List.of("run_gate", "schedule_pkey")),
            Map.entry("InboxRepository.ALREADY_THERE", List.of("run_pkey", "run_handler_key")),
            Map.entry("LaneGates.ROOM", List.of("run_limited")),
            Map.entry("LaneGates.TAKE", List.of("Tid Scan on run")),
            Map.entry("LaneRepository.LOOK", List.of("run_parked")),
            Map.entry("NodeRepository.BEAT", List.of("run_leased", "run_parked")),
            Map.entry("NodeRepository.WAKE_STRANGERS", List.of("run_parked")),
            Map.entry("ScheduleKeeper.ADAPTABLE", List.of("schedule_adaptive", "run_lane_handler")),
            Map.entry("ScheduleKeeper.ADAPT", List.of("schedule_pkey")),
            Map.entry("ScheduleKeeper.FAILING", List.of("schedule_next")),
            Map.entry("ScheduleKeeper.OLDER_RULES", List.of("schedule_tzdata")),
            Map.entry("ScheduleKeeper.OVER", List.of("schedule_paused_until")),
            Map.entry(
                    "PlanRepository.ANYTHING",
                    List.of(
                            "schedule_next",
                            "run_start_by",
                            "schedule_paused_until",
                            "schedule_tzdata",
                            "schedule_adaptive")),
            Map.entry("PlanRepository.LATE_TICKS", List.of("run_instant")),
            Map.entry("PlanRepository.WITH_LATE", List.of("run_start_by", "schedule_pkey")),
            Map.entry("PlanRepository.HOLD_LATE", List.of("schedule_pkey", "run_pkey")),
            Map.entry("PlanRepository.SETTLE", List.of("schedule_pkey", "Tid Scan on run")),
            Map.entry("PlanRepository.WRITE", List.of("schedule_pkey on schedule\n", "schedule_pkey on schedule s_1")),
            Map.entry("RunRepository.CLAIM", List.of("Tid Scan on run")),
            Map.entry("RunRepository.CLAIM_SUSPECTS", List.of("run_parked")),
            Map.entry("RunRepository.HELD", List.of("run_pkey")),
            Map.entry("RunRepository.SUSPECTS", List.of("run_parked")),
            Map.entry("RunRepository.HAND_BACK", List.of()),
            Map.entry("RunRepository.PARK_RUNNING", List.of()),
            Map.entry("RunRepository.PASS_ON", List.of()),
            Map.entry("RunRows.LIVE", List.of("run_pkey")),
            Map.entry("Sweeper.EXPIRED", List.of("run_leased")),
            Map.entry("Sweeper.HELD_BY_NOTES", List.of("run_pkey")),
            Map.entry("Sweeper.QUARANTINE", List.of("Tid Scan on run")),
            Map.entry("Sweeper.RELEASE", List.of("Tid Scan on run")),
            Map.entry("Sweeper.STILL_LOST", List.of("Tid Scan on run"))));

    // Begins with the first entry and stops there.
    private static final Pattern FIRST_ENTRY =
            Pattern.compile("Limit\\n\\s*->  Index (Only )?Scan using [^\\n]++(?!\\n\\s*(Filter|Index Cond))");

    // Without a condition, or by the lanes' index without its first column.
    private static final Pattern WHOLE_INDEX =
            Pattern.compile("Index (Only )?Scan using \\S+ on (run|schedule)\\b[^\\n]*\\n\\s*(?!\\s|Index Cond)"
                    + "|Index (Only )?Scan using run_lane_handler on run\\b[^\\n]*\\n\\s*Index Cond: (?![^\\n]*queue)");

    static final String NODE = """
            INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)
            VALUES ('00000000-0000-7000-8000-000000000001', 'n', 'host', 1, '1', 1, '{mail.send}', 50, 'notify')
            """;

    // Six of ten wait in one lane, one in a thousand others, two lie ahead, one is parked for want of a handler.
    static final String RUNS = """
            INSERT INTO carillon.run (project, id, queue, class, due_at, ready_at, day, origin, target, target_name, codec, payload, key, parked)
            SELECT CASE WHEN i %% 10 = 6 THEN 'p' || i %% 1000 ELSE 'default' END, gen_random_uuid(), 'mail', 1, due,
                   CASE WHEN i %% 10 = 9 THEN 'infinity' ELSE due END, due::date, 'direct', 'handler',
                   CASE WHEN i %% 10 = 9 THEN 'nobody.knows' ELSE 'mail.send' END, 'json', convert_to(repeat('x', 90), 'UTF8'),
                   CASE WHEN i %% 10 = 0 THEN 'k' || i END, CASE WHEN i %% 10 = 9 THEN 'no-handler' END
              FROM (SELECT i, carillon.clock() + CASE WHEN i %% 10 IN (7, 8) THEN 1 ELSE -1 END * i * interval '5 ms' AS due
                      FROM generate_series(1, %d) i) x
            """;

    static final String SCHEDULES = """
            INSERT INTO carillon.schedule (project, id, name, kind, expression, zone, gap, repeat, queue, class, target, target_name, payload, codec, missed,
                                           missed_cap, missed_spread, grace, catch_up, overlap, cursor, next_at, tzdata)
            SELECT 'default', gen_random_uuid(), 's' || i, 'cron', '0 * * * *', 'UTC', 'run-after', 'first', 'mail', 1, 'handler', 'mail.send', '{}',
                   'json', 'run-once', 100, '0', '5 min', '24 h', 'allow', carillon.clock(), carillon.clock() + i * interval '1 s', 'x'
              FROM generate_series(1, %d) i
            """;

    // One in twenty waits behind a gate: half of them behind one, the others each behind its own.
    static final String GATED = """
            UPDATE carillon.run SET ready_at = 'infinity', parked = 'gate', seq = 1, gate_at = CASE WHEN class = 1 THEN due_at END,
                   gate_key = 'fifo:' || CASE WHEN substr(id::text, 2, 1) < '8' THEN 'one' ELSE id::text END
             WHERE id::text < '1' AND parked IS NULL AND key IS NULL
            """;

    private final TestDatabase database = TestDatabase.migrated();

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void with_many_rows_of_which_few_matter() throws SQLException {
        fill(40_000, 10_000);
        database.execute("ANALYZE");

        assertThat(scans()).isEmpty();
        assertThat(withoutTheirIndex()).isEmpty();
        assertThat(text("PlanRepository.DUE")).contains("schedule_next").doesNotContain("Seq Scan on schedule");
    }

    @Test
    void what_runs_for_each_run_is_not_planned_for_each_run() throws SQLException {
        fill(40_000, 1_000);
        database.execute("ANALYZE");
        try (Connection connection = database.dataSource().getConnection()) {
            for (String name : List.of("RunRepository.CLAIM", "Endings.SUCCEED_IN_PLACE", "LaneRepository.LOOK"))
                assertThat(GenericPlan.kept(connection, name)).as(name).isTrue();
        }
    }

    @Test
    void with_an_empty_queue_that_nobody_analyzed() throws SQLException {
        fill(0, 10_000);

        assertThat(scans()).isEmpty();
    }

    @Test
    void with_an_empty_queue_that_was_vacuumed() throws SQLException {
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
    void with_a_million_rows_and_their_times() throws SQLException {
        fill(1_000_000, 1_000_000);
        database.execute("ANALYZE");
        try (Connection connection = database.dataSource().getConnection()) {
            for (String name : Stream.concat(
                            INDEXES.keySet().stream(), Stream.of("PlanRepository.DUE", "Sweeper.HELD_BY_DEAD"))
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

    /** The plans that read a whole table. Such a plan, made while the queue is empty, is kept until somebody analyzes. */
    private Map<String, String> scans() throws SQLException {
        return plans((name, plan) -> plan.matches("(?s).*Seq Scan on (run|schedule)\\b.*"));
    }

    /** The plans that walk through all of an index. Those to the first lease begin with its first entry and stop there. */
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
