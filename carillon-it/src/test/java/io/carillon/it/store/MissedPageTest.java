package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.walls.SourceTree;
import io.carillon.schedule.Missed;
import io.carillon.schedule.When;
import io.carillon.store.LedgerEntry;
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

/** Each line of the table in docs/missed.md, played: the schedule is created, nobody lives for a while, and then somebody plans and runs. */
class MissedPageTest extends PlanningContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    private static final Pattern LINE = Pattern.compile(
            "(?m)^\\| (1/\\w+) \\| (\\d) (hours|days) \\| ([a-z-]+) \\| ([\\d,]+) \\| ([\\d,]+) \\| ([\\d,]+) \\| (\\d+) \\+ (\\d+) \\|$");
    private static final Map<String, Duration> PERIODS =
            Map.of("1/s", Duration.ofSeconds(1), "1/min", Duration.ofMinutes(1), "1/day", Duration.ofDays(1));
    private static final String MISSED_ROWS = "SELECT count(*) FROM carillon.run_history WHERE state = 'missed'";
    private static final String STRETCHES = "SELECT count(*) FROM carillon.ledger_gap";

    /** A line of the page. */
    record Row(
            Duration period,
            Duration downtime,
            Missed missed,
            long onTime,
            long late,
            long missedInstants,
            long ownRows,
            long stretches) {
        static Row of(MatchResult line) {
            int amount = Integer.parseInt(line.group(2));
            return new Row(
                    PERIODS.get(line.group(1)),
                    line.group(3).equals("days") ? Duration.ofDays(amount) : Duration.ofHours(amount),
                    Missed.of(line.group(4)),
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
    StoreBench bench() {
        return BENCH;
    }

    static Stream<Row> page() {
        String page = SourceTree.read(SourceTree.here().root().resolve("docs/missed.md"));
        return LINE.matcher(page).results().map(Row::of);
    }

    @Test
    void the_page_has_a_line_for_every_policy_rate_and_downtime() {
        assertThat(page().map(row -> row.missed() + " " + row.period() + " " + row.downtime()))
                .hasSize(18)
                .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("page")
    void happens_as_the_page_says(Row row) {
        When when = When.every(row.period());
        store(Promise.of(when).missed(row.missed()));
        advance(row.downtime());
        Instant now = bench().clock().now();
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
        assertThat(BENCH.rows().number(MISSED_ROWS)).isEqualTo(row.ownRows());
        assertThat(BENCH.rows().number(STRETCHES)).isEqualTo(row.stretches());
        assertThat(row.onTime() + row.late() + row.missedInstants())
                .as("no instant is lost or doubled")
                .isEqualTo(instants(when, now));
    }

    private static long instants(When when, Instant until) {
        return Stream.iterate(
                        when.next(StoreBench.NOON),
                        at -> at.isPresent() && !at.get().isAfter(until),
                        at -> at.flatMap(when::next))
                .count();
    }

    @Test
    void late_runs_of_run_all_are_spread() {
        Promise promise = Promise.every(Duration.ofHours(1)).missed(Missed.RUN_ALL);
        store(promise.policies(
                promise.policies().runAll(new io.carillon.schedule.Policies.RunAll(3, Duration.ofMinutes(1)))));
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
    void ticks_that_were_planned_and_not_started_are_spread_too() {
        Promise promise = Promise.every(Duration.ofSeconds(10)).missed(Missed.RUN_ALL);
        store(promise.policies(promise.policies()
                .grace(Duration.ofSeconds(30))
                .runAll(new io.carillon.schedule.Policies.RunAll(100, Duration.ofSeconds(7)))));
        advance(Duration.ofSeconds(55));
        UUID node = node();

        planAll();

        assertThat(runDue(node)).containsExactlyInAnyOrder(at(10), at(30), at(40), at(50));
        advance(Duration.ofSeconds(7));
        assertThat(runDue(node)).contains(at(20));
    }

    @Test
    void a_weekend_of_downtime_costs_each_schedule_two_lines() {
        weekend(300);
    }

    @Tag("slow")
    @Test
    void a_weekend_of_downtime_costs_each_of_a_hundred_thousand_schedules_two_lines() {
        weekend(100_000);
    }

    /** Ten minutes apart, so that none was planned ahead: a late run and a stretch before the window, one within. */
    private void weekend(int schedules) {
        store(Promise.every(Duration.ofMinutes(10)));
        BENCH.database().execute("""
                INSERT INTO carillon.schedule
                  (project, id, name, kind, expression, zone, anchor, gap, repeat, queue, class, target, target_name, payload, codec, missed, missed_cap,
                   missed_spread, grace, catch_up, overlap, cursor, next_at, tzdata)
                SELECT project, gen_random_uuid(), 's' || i, kind, expression, zone, anchor, gap, repeat, queue, class, target, target_name, payload, codec,
                       missed, missed_cap, missed_spread, grace, catch_up, overlap, cursor, next_at, tzdata
                  FROM carillon.schedule, generate_series(2, %d) i
                """.formatted(schedules));
        advance(Duration.ofHours(62).plusMinutes(5));

        long before = System.nanoTime();
        planAll();
        System.out.println("planned schedules=" + schedules + " ms=" + (System.nanoTime() - before) / 1_000_000);

        assertThat(BENCH.rows().number("SELECT count(*) FROM carillon.run")).isEqualTo(schedules);
        assertThat(BENCH.rows().number(STRETCHES)).isEqualTo(2L * schedules);
        assertThat(BENCH.rows().number("SELECT sum(count) FROM carillon.ledger_gap"))
                .isEqualTo(371L * schedules);
    }
}
