package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.schedule.DstPolicy.Gap;
import io.carillon.schedule.DstPolicy.Repeat;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class IntervalTest {
    private static final ChronoUnit[] UNITS = {
        ChronoUnit.SECONDS,
        ChronoUnit.MINUTES,
        ChronoUnit.HOURS,
        ChronoUnit.DAYS,
        ChronoUnit.WEEKS,
        ChronoUnit.MONTHS,
        ChronoUnit.YEARS
    };

    @Test
    void the_first_run_is_the_start() {
        Interval daily = Interval.every(1, ChronoUnit.DAYS, berlin("2024-05-01T08:00:00.5"));

        assertThat(daily.next(Instant.MIN)).isEqualTo("2024-05-01T06:00:00.5Z");
        assertThat(daily.next(Instant.parse("2024-05-01T06:00:00.499Z"))).isEqualTo("2024-05-01T06:00:00.5Z");
        assertThat(daily.next(Instant.parse("2024-05-01T06:00:00.5Z"))).isEqualTo("2024-05-02T06:00:00.5Z");
    }

    @Test
    void instants_do_not_drift_over_ten_thousand_runs_nor_over_a_downtime() {
        Interval every7s = Interval.every(7, ChronoUnit.SECONDS, berlin("2024-03-30T00:00:00.25"));
        Instant first = every7s.start().toInstant();
        Instant at = first;
        for (int k = 1; k <= 10_000; k++) {
            at = every7s.next(at.plusMillis(k % 7000));
            assertThat(at).isEqualTo(first.plusSeconds(7L * k));
        }
        assertThat(every7s.next(first.plusSeconds(7_000_000_003L))).isEqualTo(first.plusSeconds(7_000_000_007L));
    }

    @Test
    void hours_are_elapsed_and_days_keep_the_wall_time() {
        Interval hours = Interval.every(24, ChronoUnit.HOURS, berlin("2024-03-30T12:00:00"));
        Interval days = Interval.every(1, ChronoUnit.DAYS, berlin("2024-03-30T12:00:00"));

        assertThat(hours.next(hours.start().toInstant())).isEqualTo("2024-03-31T11:00:00Z");
        assertThat(days.next(days.start().toInstant())).isEqualTo("2024-03-31T10:00:00Z");
    }

    @Test
    void months_are_counted_from_the_start_and_limited_to_their_length() {
        Interval monthly = Interval.every(1, ChronoUnit.MONTHS, utc("2023-01-31T09:00:00"));
        Interval leap = Interval.every(1, ChronoUnit.YEARS, utc("2024-02-29T09:00:00"));

        assertThat(runs(monthly, "2023-01-31T09:00:00Z", 4))
                .containsExactly(
                        "2023-02-28T09:00:00Z", "2023-03-31T09:00:00Z", "2023-04-30T09:00:00Z", "2023-05-31T09:00:00Z");
        assertThat(runs(leap, "2026-12-31T00:00:00Z", 2))
                .containsExactly("2027-02-28T09:00:00Z", "2028-02-29T09:00:00Z");
    }

    @Test
    void a_wall_time_in_a_gap_runs_immediately_after_it_and_the_next_one_at_its_own_time() {
        Interval daily = Interval.every(1, ChronoUnit.DAYS, berlin("2024-03-29T02:30:00"));

        assertThat(runs(daily, "2024-03-30T12:00:00Z", 2))
                .containsExactly("2024-03-31T01:00:00Z", "2024-04-01T00:30:00Z");
        assertThat(daily.next(Instant.parse("2024-03-30T12:00:00Z"), new DstPolicy(Gap.SKIP, Repeat.FIRST)))
                .contains(Instant.parse("2024-04-01T00:30:00Z"));
    }

    @Test
    void a_repeated_wall_time_runs_in_the_pass_of_the_policy() {
        Interval daily = Interval.every(1, ChronoUnit.DAYS, berlin("2024-10-20T02:30:00"));
        Instant before = Instant.parse("2024-10-26T12:00:00Z");
        Instant first = Instant.parse("2024-10-27T00:30:00Z");
        Instant second = Instant.parse("2024-10-27T01:30:00Z");
        Instant nextDay = Instant.parse("2024-10-28T01:30:00Z");

        assertThat(daily.next(before)).isEqualTo(first);
        assertThat(daily.next(first)).isEqualTo(nextDay);
        assertThat(daily.next(before, new DstPolicy(Gap.SKIP, Repeat.SECOND))).contains(second);
        assertThat(daily.next(before, new DstPolicy(Gap.SKIP, Repeat.BOTH))).contains(first);
        assertThat(daily.next(first, new DstPolicy(Gap.SKIP, Repeat.BOTH))).contains(second);
        assertThat(daily.next(second, new DstPolicy(Gap.SKIP, Repeat.BOTH))).contains(nextDay);
    }

    @Test
    void a_start_in_the_second_pass_stays_there() {
        ZonedDateTime secondPass = berlin("2024-10-27T02:30:00").withLaterOffsetAtOverlap();
        Interval daily = Interval.every(1, ChronoUnit.DAYS, secondPass);

        assertThat(daily.next(Instant.EPOCH)).isEqualTo("2024-10-27T01:30:00Z");
        assertThat(daily.next(Instant.EPOCH, new DstPolicy(Gap.SKIP, Repeat.BOTH)))
                .contains(Instant.parse("2024-10-27T01:30:00Z"));
        assertThat(daily.next(secondPass.toInstant())).isEqualTo("2024-10-28T01:30:00Z");
    }

    @Test
    void a_start_in_the_first_pass_is_repeated_only_under_the_policy_both() {
        ZonedDateTime firstPass = berlin("2024-10-27T02:30:00");
        Interval daily = Interval.every(1, ChronoUnit.DAYS, firstPass);
        Instant nextDay = Instant.parse("2024-10-28T01:30:00Z");

        assertThat(daily.next(firstPass.toInstant())).isEqualTo(nextDay);
        assertThat(daily.next(firstPass.toInstant(), new DstPolicy(Gap.SKIP, Repeat.SECOND)))
                .contains(nextDay);
        assertThat(daily.next(firstPass.toInstant(), new DstPolicy(Gap.SKIP, Repeat.BOTH)))
                .contains(Instant.parse("2024-10-27T01:30:00Z"));
    }

    @Test
    void a_day_lost_to_a_zone_change_is_a_gap_like_any_other() {
        ZonedDateTime start = ZonedDateTime.of(LocalDateTime.parse("2011-11-30T09:00:00"), ZoneId.of("Pacific/Apia"));
        Interval monthly = Interval.every(1, ChronoUnit.MONTHS, start);

        assertThat(runs(monthly, "2011-12-01T00:00:00Z", 2))
                .containsExactly("2011-12-30T10:00:00Z", "2012-01-29T19:00:00Z");
    }

    @ParameterizedTest
    @MethodSource("io.carillon.schedule.TestZones#zonesWithClockChanges")
    void equals_step_by_step_iteration_from_the_start(String zone) {
        Random random = new Random(TestZones.seed("interval " + zone));
        RandomCron crons = new RandomCron(random);
        for (int i = 0; i < 150; i++) {
            ChronoUnit unit = UNITS[random.nextInt(UNITS.length)];
            long amount = 1L + random.nextInt(random.nextBoolean() ? 3 : 40);
            long seconds = 1_000_000_000L + random.nextInt(700_000_000);
            long halfHours = seconds - seconds % 1800;
            ZonedDateTime start =
                    Instant.ofEpochSecond(halfHours, random.nextInt(2) * 7L).atZone(ZoneId.of(zone));
            Interval interval = Interval.every(amount, unit, start);
            DstPolicy policy = crons.policy();
            NavigableSet<Instant> grid = iterate(interval, policy, 600);
            Instant at = start.toInstant().minusSeconds(random.nextInt(100_000));
            for (Instant expected : grid) {
                assertThat(interval.next(at, policy))
                        .as("%s %s after %s", interval, policy, at)
                        .contains(expected);
                at = expected;
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ChronoUnit.class,
            names = {"SECONDS", "MINUTES", "HOURS", "DAYS", "WEEKS", "MONTHS", "YEARS"})
    void far_years_cost_no_more_than_near_ones(ChronoUnit unit) {
        Interval one =
                Interval.every(1, unit, ZonedDateTime.of(LocalDateTime.MIN.plusYears(1), ZoneId.of("Europe/Berlin")));
        Instant year9999 = Instant.parse("9999-12-31T23:59:59.999999999Z");
        Instant next = one.next(year9999);

        assertThat(next)
                .isAfter(year9999)
                .isBeforeOrEqualTo(ZonedDateTime.of(10001, 1, 1, 2, 0, 0, 0, ZoneOffset.UTC)
                        .toInstant());
        assertThat(one.next(Instant.parse("-5000-01-01T00:00:00Z"))).isBefore("-4998-01-01T00:00:00Z");
        assertThat(one.next(Instant.MIN)).isEqualTo(one.start().toInstant());
    }

    @ParameterizedTest
    @EnumSource(
            value = ChronoUnit.class,
            names = {"SECONDS", "MINUTES", "HOURS", "DAYS", "WEEKS", "MONTHS", "YEARS"})
    void reports_the_end_of_the_calendar(ChronoUnit unit) {
        Interval interval = Interval.every(1, unit, utc("2024-01-01T00:00:00"));

        assertThat(interval.next(Instant.MAX, DstPolicy.defaults())).isEmpty();
        assertThatThrownBy(() -> interval.next(Instant.MAX))
                .isInstanceOf(DateTimeException.class)
                .hasMessageContaining("no instant after " + Instant.MAX);
    }

    @Test
    void ends_the_search_when_every_wall_time_is_in_a_gap() {
        Interval every400Years = Interval.every(400, ChronoUnit.YEARS, berlin("1900-03-25T02:30:00"));
        DstPolicy skip = new DstPolicy(Gap.SKIP, Repeat.FIRST);

        assertThat(every400Years.next(every400Years.start().toInstant(), skip)).isEmpty();
        assertThat(every400Years.next(every400Years.start().toInstant())).isEqualTo("2300-03-25T01:00:00Z");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void a_non_positive_amount_is_refused(long amount) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Interval.every(amount, ChronoUnit.HOURS, utc("2024-01-01T00:00:00")))
                .withMessage("amount must be at least 1 (was " + amount + ").");
    }

    @ParameterizedTest
    @EnumSource(
            value = ChronoUnit.class,
            mode = Mode.EXCLUDE,
            names = {"SECONDS", "MINUTES", "HOURS", "DAYS", "WEEKS", "MONTHS", "YEARS"})
    void other_units_are_refused(ChronoUnit unit) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Interval.every(1, unit, utc("2024-01-01T00:00:00")))
                .withMessage("unit must be SECONDS, MINUTES, HOURS, DAYS, WEEKS, MONTHS or YEARS (was " + unit + ").");
    }

    @ParameterizedTest
    @EnumSource(
            value = ChronoUnit.class,
            names = {"SECONDS", "MINUTES", "HOURS", "DAYS", "WEEKS", "MONTHS", "YEARS"})
    void an_amount_that_leaves_the_calendar_is_refused(ChronoUnit unit) {
        for (long amount : new long[] {Long.MAX_VALUE, Long.MAX_VALUE / 60, 1L << 62}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Interval.every(amount, unit, utc("2024-01-01T00:00:00")))
                    .withMessageEndingWith("is outside the supported calendar. Use a smaller amount.");
        }
    }

    @Test
    void describes_itself_in_english() {
        assertThat(Interval.every(1, ChronoUnit.DAYS, utc("2024-01-01T09:00:00"))
                        .describe())
                .isEqualTo("Every day from 2024-01-01T09:00Z");
        assertThat(Interval.every(90, ChronoUnit.SECONDS, berlin("2024-01-01T09:00:00"))
                        .describe())
                .isEqualTo("Every 90 seconds from 2024-01-01T09:00+01:00[Europe/Berlin]");
        assertThat(Interval.every(10, ChronoUnit.SECONDS, utc("1970-01-01T00:00:00"))
                        .describe())
                .isEqualTo("Every 10 seconds");
    }

    /** The definition, step by step: start + k * amount, with each wall time resolved separately. */
    private static NavigableSet<Instant> iterate(Interval interval, DstPolicy policy, int steps) {
        ZonedDateTime start = interval.start();
        NavigableSet<Instant> grid = new TreeSet<>(List.of(start.toInstant()));
        for (long k = 0; k < steps; k++) {
            if (interval.unit().isTimeBased()) {
                grid.add(start.toInstant().plus(interval.unit().getDuration().multipliedBy(k * interval.amount())));
            } else {
                LocalDateTime wallTime = start.toLocalDateTime().plus(k * interval.amount(), interval.unit());
                ZonedDateTime first = ZonedDateTime.ofLocal(wallTime, start.getZone(), null);
                ZonedDateTime second = first.withLaterOffsetAtOverlap();
                if (!first.toLocalDateTime().equals(wallTime)) {
                    if (policy.gap() == Gap.RUN_AFTER) {
                        grid.add(start.getZone()
                                .getRules()
                                .getTransition(wallTime)
                                .getInstant());
                    }
                    continue;
                }
                if (k > 0 && policy.repeat() != Repeat.SECOND) {
                    grid.add(first.toInstant());
                }
                if (policy.repeat() == Repeat.BOTH || (k > 0 && policy.repeat() == Repeat.SECOND)) {
                    grid.add(second.toInstant());
                }
            }
        }
        return grid;
    }

    private static List<String> runs(Interval interval, String after, int count) {
        List<String> runs = new ArrayList<>();
        Instant at = Instant.parse(after);
        for (int i = 0; i < count; i++) {
            at = interval.next(at);
            runs.add(at.toString());
        }
        return runs;
    }

    private static ZonedDateTime berlin(String local) {
        return ZonedDateTime.of(LocalDateTime.parse(local), ZoneId.of("Europe/Berlin"));
    }

    private static ZonedDateTime utc(String local) {
        return ZonedDateTime.of(LocalDateTime.parse(local), ZoneOffset.UTC);
    }
}
