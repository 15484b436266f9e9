package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.architecture.SourceTree;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Executes each row of the table in docs/missed.md: it stores the schedule, lets time pass without a node, then plans
 * and runs, and compares the numbers.
 */
class MissedPageTest extends PlanningContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final Pattern LINE = Pattern.compile(
            "(?m)^\\| (1/\\w+) \\| (\\d) (hours|days) \\| ([a-z-]+) \\| ([\\d,]+) \\| ([\\d,]+) \\| ([\\d,]+) \\|"
                    + " (\\d+) \\+ (\\d+) \\|$");
    private static final Map<String, Duration> PERIODS =
            Map.of("1/s", Duration.ofSeconds(1), "1/min", Duration.ofMinutes(1), "1/day", Duration.ofDays(1));
    private static final String MISSED_ROWS = "SELECT count(*) FROM carillon.run_history WHERE state = 'missed'";
    private static final String COUNT_GAPS = "SELECT count(*) FROM carillon.ledger_gap";

    /** A row of the table. */
    record Row(
            Duration period,
            Duration downtime,
            MissedPolicy missedPolicy,
            long onTime,
            long late,
            long missedInstants,
            long ownRows,
            long gaps) {
        static Row of(MatchResult line) {
            int amount = Integer.parseInt(line.group(2));
            return new Row(
                    PERIODS.get(line.group(1)),
                    line.group(3).equals("days") ? Duration.ofDays(amount) : Duration.ofHours(amount),
                    MissedPolicy.of(line.group(4)),
                    number(line.group(5)),
                    number(line.group(6)),
                    number(line.group(7)),
                    number(line.group(8)),
                    number(line.group(9)));
        }

        private static long number(String text) {
            return Long.parseLong(text.replace(",", ""));
        }
    }

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    static Stream<Row> page() {
        String page = SourceTree.read(SourceTree.here().root().resolve("docs/missed.md"));
        return LINE.matcher(page).results().map(Row::of);
    }

    @Test
    void the_page_has_a_row_for_every_policy_rate_and_downtime() {
        assertThat(page().map(row -> row.missedPolicy() + " " + row.period() + " " + row.downtime()))
                .hasSize(18)
                .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("page")
    void the_numbers_match_the_page(Row row) {
        When when = When.every(row.period());
        store(ScheduleSpec.of(when).missed(row.missedPolicy()));
        advance(row.downtime());
        Instant now = fixture().clock().now();
        Instant graceEnd = now.minus(Duration.ofMinutes(5));

        planAll();
        UUID node = node();
        List<Instant> ran =
                Stream.of(runDue(node), runDue(node)).flatMap(List::stream).toList();

        assertThat(ran.stream().filter(at -> at.isAfter(graceEnd))).hasSize((int) row.onTime());
        assertThat(ran.stream().filter(at -> !at.isAfter(graceEnd))).hasSize((int) row.late());
        assertThat(ledger("report").stream()
                        .filter(entry -> entry.state().equals("missed"))
                        .mapToLong(LedgerEntry::count)
                        .sum())
                .isEqualTo(row.missedInstants());
        assertThat(FIXTURE.query(MISSED_ROWS).number()).isEqualTo(row.ownRows());
        assertThat(FIXTURE.query(COUNT_GAPS).number()).isEqualTo(row.gaps());
        assertThat(row.onTime() + row.late() + row.missedInstants())
                .as("each instant is counted once")
                .isEqualTo(instants(when, now));
    }

    private static long instants(When when, Instant until) {
        return Stream.iterate(
                        when.next(StoreFixture.NOON),
                        at -> at.isPresent() && !at.get().isAfter(until),
                        at -> at.flatMap(when::next))
                .count();
    }

    @Test
    void late_runs_of_run_all_are_spread() {
        ScheduleSpec spec = ScheduleSpec.every(Duration.ofHours(1)).missed(MissedPolicy.RUN_ALL);
        store(spec.policies(spec.policies()
                .runAll(new io.carillon.schedule.SchedulePolicies.RunAllLimits(3, Duration.ofMinutes(1)))));
        advance(Duration.ofHours(10).plusMinutes(10));
        UUID node = node();

        planAll();

        assertThat(runDue(node)).containsExactly(at(8 * 3_600));
        advance(Duration.ofMinutes(1));
        planAll();
        assertThat(runDue(node)).containsExactly(at(9 * 3_600));
        advance(Duration.ofMinutes(1));
        planAll();
        assertThat(runDue(node)).containsExactly(at(10 * 3_600));
    }

    @Test
    void planned_ticks_that_were_not_started_are_spread_too() {
        ScheduleSpec spec = ScheduleSpec.every(Duration.ofSeconds(10)).missed(MissedPolicy.RUN_ALL);
        store(spec.policies(spec.policies()
                .grace(Duration.ofSeconds(30))
                .runAll(new io.carillon.schedule.SchedulePolicies.RunAllLimits(100, Duration.ofSeconds(7)))));
        advance(Duration.ofSeconds(55));
        UUID node = node();

        planAll();

        assertThat(runDue(node)).containsExactlyInAnyOrder(at(10), at(30), at(40), at(50));
        advance(Duration.ofSeconds(7));
        assertThat(runDue(node)).contains(at(20));
    }

    @Test
    void a_weekend_of_downtime_costs_each_schedule_two_ledger_rows() {
        weekend(300);
    }

    @Tag("slow")
    @Test
    void a_weekend_of_downtime_costs_each_of_a_hundred_thousand_schedules_two_ledger_rows() {
        weekend(100_000);
    }

    /**
     * Uses schedules of ten minutes, so that no instant was planned ahead. Each schedule gets one late run, one range
     * entry for the instants before the catch-up window and one for those inside it.
     */
    private void weekend(int schedules) {
        store(ScheduleSpec.every(Duration.ofMinutes(10)));
        FIXTURE.database().execute("""
                INSERT INTO carillon.schedule
                  (project, id, name, kind, expression, zone, anchor, gap, repeat, queue, priority, target, target_name,
                    payload, codec, missed, missed_cap,
                   missed_spread, grace, catch_up, overlap, cursor, next_at, tzdata)
                SELECT project, gen_random_uuid(), 's' || i, kind, expression, zone, anchor, gap, repeat, queue,
                       priority, target, target_name, payload, codec,
                       missed, missed_cap, missed_spread, grace, catch_up, overlap, cursor, next_at, tzdata
                  FROM carillon.schedule, generate_series(2, %d) i
                """.formatted(schedules));
        advance(Duration.ofHours(62).plusMinutes(5));

        long before = System.nanoTime();
        planAll();
        System.out.println("planned schedules=" + schedules + " ms=" + (System.nanoTime() - before) / 1_000_000);

        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.run").number()).isEqualTo(schedules);
        assertThat(FIXTURE.query(COUNT_GAPS).number()).isEqualTo(2L * schedules);
        assertThat(FIXTURE.query("SELECT sum(count) FROM carillon.ledger_gap").number())
                .isEqualTo(371L * schedules);
    }
}
