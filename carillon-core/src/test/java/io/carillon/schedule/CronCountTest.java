package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.schedule.InstantRange;
import io.carillon.internal.schedule.InstantSearch;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.schedule.TickPlanner;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Instants are counted without iteration, with the same result as iteration. */
class CronCountTest {
    private static final int MOST = 3_000;

    @ParameterizedTest
    @MethodSource("io.carillon.schedule.TestZones#zonesWithClockChanges")
    void a_range_counts_the_instants_that_iteration_finds(String name) {
        ZoneId zone = ZoneId.of(name);
        Random random = new Random(TestZones.seed("count " + name));
        RandomCron crons = new RandomCron(random);
        List<ZoneOffsetTransition> changes = TestZones.changes(zone, "1975-01-01T00:00:00Z", "2045-01-01T00:00:00Z");
        for (int i = 0; i < 120; i++) {
            When when = When.cron(crons.next(), zone).dst(crons.policy());
            Instant after = i % 3 == 0 || changes.isEmpty()
                    ? Instant.parse("1990-01-01T00:00:00Z").plusSeconds(random.nextInt(1_500_000_000))
                    : changes.get(random.nextInt(changes.size())).getInstant().minusSeconds(random.nextInt(5_000));
            check(when, after);
            check(when.except(dates(random, after.plusSeconds(86_400), zone)), after);
        }
    }

    private static Set<LocalDate> dates(Random random, Instant about, ZoneId zone) {
        Set<LocalDate> dates = new TreeSet<>();
        for (int i = 0; i < 4; i++) dates.add(LocalDate.ofInstant(about, zone).plusDays(random.nextInt(6) - 1));
        return dates;
    }

    private static void check(When when, Instant after) {
        Instant until = after;
        long count = 0;
        for (Optional<Instant> at = when.nextIncludingExcluded(after);
                at.isPresent() && count < MOST;
                at = when.nextIncludingExcluded(until)) {
            until = at.get();
            count++;
        }
        if (count == 0) return;
        List<TickPlan.LedgerGap> gaps = InstantRange.gapsBetween(when, after, until, "missed", "late");
        assertThat(gaps.stream().mapToLong(TickPlan.LedgerGap::count).sum())
                .as(when + " after " + after)
                .isEqualTo(count);
        assertThat(gaps).isEqualTo(iterated(when, after, until));
        assertThat(InstantSearch.lastAtOrBefore(
                        when::nextIncludingExcluded,
                        when.nextIncludingExcluded(after).orElseThrow(),
                        until.plusMillis(500)))
                .isEqualTo(until);
    }

    /** Computes the same gaps instant by instant. */
    private static List<TickPlan.LedgerGap> iterated(When when, Instant after, Instant until) {
        java.util.ArrayList<TickPlan.LedgerGap> gaps = new java.util.ArrayList<>();
        Optional<Instant> at = when.nextIncludingExcluded(after);
        while (at.isPresent() && !at.get().isAfter(until)) {
            boolean excluded = when.excludes(at.get());
            Instant first = at.get();
            Instant last = first;
            long count = 0;
            while (at.isPresent() && !at.get().isAfter(until) && when.excludes(at.get()) == excluded) {
                last = at.get();
                count++;
                at = when.nextIncludingExcluded(last);
            }
            gaps.add(
                    excluded
                            ? new TickPlan.LedgerGap(first, last, count, "skipped", TickPlan.LedgerGap.EXCLUDED)
                            : new TickPlan.LedgerGap(first, last, count, "missed", "late"));
        }
        return gaps;
    }

    @Test
    void four_years_of_seconds_are_counted_without_iteration() {
        Instant from = Instant.parse("2024-01-01T00:00:00Z");
        Instant until = Instant.parse("2028-01-01T00:00:00Z");
        When berlin = When.cron("* * * * * *", ZoneId.of("Europe/Berlin"));
        When weekdays = When.cron("* * * * * MON-FRI", ZoneOffset.UTC).except(LocalDate.of(2026, 12, 25));

        long before = System.nanoTime();
        List<TickPlan.LedgerGap> gaps = InstantRange.gapsBetween(berlin, from, until, "missed", "late");
        List<TickPlan.LedgerGap> more = InstantRange.gapsBetween(weekdays, from, until, "missed", "late");
        Duration took = Duration.ofNanos(System.nanoTime() - before);

        assertThat(gaps)
                .singleElement()
                .satisfies(ledgerGap -> assertThat(ledgerGap.count()).isEqualTo(126_230_400));
        assertThat(more.stream().map(TickPlan.LedgerGap::state)).containsExactly("missed", "skipped", "missed");
        assertThat(took).as("iteration takes 40 seconds").isLessThan(Duration.ofSeconds(4));
    }

    @Test
    void a_year_of_missed_seconds_is_resolved_in_one_step() {
        Instant now = Instant.parse("2026-03-02T12:00:00Z");
        When seconds = When.cron("* * * * * *", ZoneOffset.UTC);
        Schedule schedule = TestSchedules.schedule(
                seconds, SchedulePolicies.defaults().catchUp(Duration.ofDays(366)), now.minus(Duration.ofDays(360)));

        long before = System.nanoTime();
        TickPlan plan = TickPlanner.defaults().plan(schedule, List.of(), now);
        Duration took = Duration.ofNanos(System.nanoTime() - before);

        assertThat(plan.ticks().get(0).plannedAt()).isEqualTo(now.minus(Duration.ofMinutes(5)));
        assertThat(plan.gaps())
                .singleElement()
                .satisfies(ledgerGap -> assertThat(ledgerGap.count()).isEqualTo(360 * 86_400L - 301));
        assertThat(took).isLessThan(Duration.ofSeconds(2));
    }
}
