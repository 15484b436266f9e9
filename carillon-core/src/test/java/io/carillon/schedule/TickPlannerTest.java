package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TickPlannerTest {
    private static final Instant NOON = Instant.parse("2026-05-04T12:00:00Z");
    private static final When EVERY_MINUTE = When.every(Duration.ofMinutes(1));
    private static final Policies DEFAULTS = Policies.defaults();
    private final TickPlanner planner = TickPlanner.defaults();

    @Test
    void plans_the_look_ahead_both_ends_as_a_clock_reads_them() {
        TickPlan plan = plan(EVERY_MINUTE, DEFAULTS, NOON, NOON);

        assertThat(planned(plan)).containsExactly("12:01", "12:02");
        assertThat(plan.cursor()).isEqualTo(at("12:02"));
        assertThat(plan.nextAt()).isEqualTo(at("12:03"));
        assertThat(plan.gaps()).isEmpty();
        assertThat(plan.late()).isEmpty();
    }

    @Test
    void gives_each_tick_its_due_time_and_its_grace() {
        TickPlan.Tick tick = plan(EVERY_MINUTE, DEFAULTS, NOON, NOON).ticks().get(0);

        assertThat(tick.dueAt()).isEqualTo(tick.plannedAt());
        assertThat(tick.startBy()).isEqualTo(tick.dueAt().plus(Duration.ofMinutes(5)));
    }

    @Test
    void changes_nothing_when_nothing_is_due_soon() {
        TickPlan plan = plan(When.cron("0 0 1 1 *", "UTC"), DEFAULTS, NOON, NOON);

        assertThat(plan.empty()).isTrue();
        assertThat(plan.nextAt()).isEqualTo(Instant.parse("2027-01-01T00:00:00Z"));
    }

    @Test
    void goes_on_in_the_next_round_where_the_cap_stopped_it() {
        TickPlanner few = new TickPlanner(Duration.ofMinutes(10), 3);
        Schedule schedule = Plans.schedule(EVERY_MINUTE, DEFAULTS, NOON);
        List<String> all = new ArrayList<>();

        for (int round = 0; round < 4; round++) {
            TickPlan plan = few.plan(schedule, List.of(), NOON);
            assertThat(plan.ticks()).hasSizeLessThanOrEqualTo(3);
            all.addAll(planned(plan));
            schedule = Plans.after(plan);
        }

        assertThat(all)
                .containsExactlyElementsOf(IntStream.rangeClosed(1, 10)
                        .mapToObj("12:%02d"::formatted)
                        .toList());
    }

    @Test
    void starts_instants_within_grace_as_if_on_time() {
        TickPlan plan = plan(EVERY_MINUTE, DEFAULTS, at("11:56"), NOON);

        assertThat(planned(plan)).containsExactly("11:57", "11:58", "11:59", "12:00", "12:01", "12:02");
        assertThat(plan.gaps()).isEmpty();
    }

    @Test
    void treats_an_instant_exactly_at_the_end_of_its_grace_as_missed() {
        TickPlan plan = plan(EVERY_MINUTE, DEFAULTS, at("11:54"), NOON);

        // 11:55 may start until 12:00, exclusively, as the claim reads it.
        assertThat(plan.ticks().get(0)).satisfies(late -> {
            assertThat(late.plannedAt()).isEqualTo(at("11:55"));
            assertThat(late.startBy()).isEqualTo(Instant.MAX);
        });
        assertThat(plan.ticks().get(1).plannedAt()).isEqualTo(at("11:56"));
    }

    @Test
    void runs_the_latest_missed_instant_once_and_records_the_others() {
        TickPlan plan = plan(EVERY_MINUTE, DEFAULTS, at("10:00"), NOON);

        TickPlan.Tick late = plan.ticks().get(0);
        assertThat(late.plannedAt()).isEqualTo(at("11:55"));
        assertThat(late.dueAt()).isEqualTo(NOON);
        assertThat(late.startBy()).isEqualTo(Instant.MAX);
        assertThat(plan.gaps())
                .containsExactly(new TickPlan.Gap(
                        at("10:01"), at("11:54"), 114, "missed", "only the latest missed instant runs"));
        assertThat(planned(plan).subList(1, 3)).containsExactly("11:56", "11:57");
    }

    @Test
    void records_no_stretch_when_a_single_instant_was_missed_and_runs() {
        TickPlan plan = plan(When.cron("0 11 * * *", "UTC"), DEFAULTS, at("10:00"), NOON);

        assertThat(planned(plan)).containsExactly("11:00");
        assertThat(plan.gaps()).isEmpty();
        assertThat(plan.cursor()).isEqualTo(at("11:00"));
    }

    @Test
    void skips_all_missed_instants_when_told_so() {
        TickPlan plan = plan(EVERY_MINUTE, DEFAULTS.missed(Missed.SKIP), at("10:00"), NOON);

        assertThat(planned(plan).get(0)).isEqualTo("11:56");
        assertThat(plan.gaps())
                .containsExactly(
                        new TickPlan.Gap(at("10:01"), at("11:55"), 115, "missed", "missed instants are skipped"));
    }

    @Test
    void catches_up_only_within_the_window_both_ends_inclusive() {
        When daily = When.cron("0 11 * * *", "UTC");
        Policies hour = DEFAULTS.catchUp(Duration.ofHours(1));

        TickPlan inside = plan(daily, hour, at("10:00"), NOON);
        TickPlan outside = plan(daily, hour, at("10:00"), NOON.plusNanos(1_000));

        assertThat(planned(inside)).containsExactly("11:00");
        assertThat(outside.ticks()).isEmpty();
        assertThat(outside.gaps())
                .containsExactly(
                        new TickPlan.Gap(at("11:00"), at("11:00"), 1, "missed", "older than the catch-up window"));
    }

    @Test
    void decides_once_about_late_ticks_and_instants_never_planned() {
        TickPlan.LateTick first = Plans.late("2026-05-04T11:30:00Z");
        TickPlan.LateTick second = Plans.late("2026-05-04T11:31:00Z");

        TickPlan both = planner.plan(Plans.schedule(EVERY_MINUTE, DEFAULTS, at("11:31")), List.of(second, first), NOON);
        TickPlan onlyLate =
                planner.plan(Plans.schedule(EVERY_MINUTE, DEFAULTS, at("12:02")), List.of(second, first), NOON);

        assertThat(both.late()).hasSize(2).noneMatch(TickPlan.Verdict::runsLate);
        assertThat(both.ticks())
                .filteredOn(tick -> tick.startBy().equals(Instant.MAX))
                .hasSize(1);
        assertThat(onlyLate.late())
                .containsExactly(
                        new TickPlan.Verdict(first.run(), "only the latest missed instant runs"),
                        new TickPlan.Verdict(second.run(), null));
        assertThat(onlyLate.ticks()).isEmpty();
        assertThat(onlyLate.empty()).isFalse();
    }

    @Test
    void lets_no_late_tick_through_that_is_skipped_or_too_old() {
        List<TickPlan.LateTick> late = List.of(Plans.late("2026-05-04T09:00:00Z"), Plans.late("2026-05-04T10:00:00Z"));
        Schedule skip = Plans.schedule(EVERY_MINUTE, DEFAULTS.missed(Missed.SKIP), at("12:02"));
        Schedule old = Plans.schedule(EVERY_MINUTE, DEFAULTS.catchUp(Duration.ofHours(1)), at("12:02"));

        assertThat(planner.plan(skip, late, NOON).late())
                .extracting(TickPlan.Verdict::reason)
                .containsOnly("missed instants are skipped");
        assertThat(planner.plan(old, late, NOON).late())
                .noneMatch(TickPlan.Verdict::runsLate)
                .last()
                .extracting(TickPlan.Verdict::reason)
                .isEqualTo("older than the catch-up window");
    }

    @Test
    void fires_exactly_at_the_end_and_then_never() {
        When bounded = EVERY_MINUTE.from(at("12:01")).until(at("12:01"));

        TickPlan plan = plan(bounded, DEFAULTS, NOON, NOON);
        TickPlan after = planner.plan(Plans.after(plan), List.of(), at("12:10"));

        assertThat(planned(plan)).containsExactly("12:01");
        assertThat(plan.nextAt()).isEqualTo(Instant.MAX);
        assertThat(after.empty()).isTrue();
    }

    @Test
    void runs_a_one_off_of_the_past_late_or_records_it() {
        When once = When.once(at("11:00"));

        assertThat(planned(plan(once, DEFAULTS, at("10:00"), NOON))).containsExactly("11:00");
        assertThat(plan(once, DEFAULTS.missed(Missed.SKIP), at("10:00"), NOON).gaps())
                .hasSize(1);
        assertThat(plan(once, DEFAULTS, at("11:00"), NOON).empty()).isTrue();
    }

    @Test
    void stops_at_the_end_of_the_year_9999() {
        Instant last = Instant.parse("9999-12-31T23:59:00Z");
        Instant lastButOne = last.minusSeconds(60);

        TickPlan plan = plan(EVERY_MINUTE, DEFAULTS, lastButOne, lastButOne);

        assertThat(plan.ticks()).extracting(TickPlan.Tick::plannedAt).containsExactly(last);
        assertThat(plan.nextAt()).isEqualTo(Instant.MAX);
        assertThat(planner.plan(Plans.after(plan), List.of(), last).empty()).isTrue();
    }

    @Test
    void drifts_by_nothing_in_ten_thousand_firings() {
        Instant start = Instant.parse("2026-05-04T12:00:00.123456Z");
        When every = When.every(7, ChronoUnit.SECONDS, start.atZone(ZoneOffset.UTC));
        Schedule schedule = Plans.schedule(every, DEFAULTS, start);
        List<Instant> fired = new ArrayList<>();
        Instant now = start;

        while (fired.size() < 10_000) {
            TickPlan plan = planner.plan(schedule, List.of(), now);
            plan.ticks().forEach(tick -> fired.add(tick.plannedAt()));
            schedule = Plans.after(plan);
            // Rounds are never on the grid and never equally long.
            now = now.plusMillis(61_003 + fired.size() % 977);
        }

        for (int k = 0; k < 10_000; k++) assertThat(fired.get(k)).isEqualTo(start.plusSeconds(7L * (k + 1)));
    }

    @Test
    void spreads_schedules_by_jitter_that_is_stable_and_below_the_gap() {
        When jittered = EVERY_MINUTE.jitter(Duration.ofHours(2));
        List<Duration> offsets = new ArrayList<>();

        for (int i = 0; i < 200; i++) {
            ScheduleId id = new ScheduleId(UUID.randomUUID());
            TickPlan one = planner.plan(Plans.schedule(id, jittered, DEFAULTS, NOON), List.of(), NOON);
            TickPlan again = planner.plan(Plans.schedule(id, jittered, DEFAULTS, NOON), List.of(), NOON.plusSeconds(9));
            TickPlan.Tick tick = one.ticks().get(0);
            offsets.add(Duration.between(tick.plannedAt(), tick.dueAt()));

            assertThat(again.ticks().get(0).dueAt()).isEqualTo(tick.dueAt());
            assertThat(tick.startBy()).isEqualTo(tick.dueAt().plus(Duration.ofMinutes(5)));
        }

        assertThat(offsets).allMatch(offset -> !offset.isNegative() && offset.toSeconds() < 60);
        assertThat(offsets.stream().map(Duration::toSeconds).distinct()).hasSizeGreaterThan(30);
    }

    private TickPlan plan(When when, Policies policies, Instant cursor, Instant now) {
        return planner.plan(Plans.schedule(when, policies, cursor), List.of(), now);
    }

    private static List<String> planned(TickPlan plan) {
        return plan.ticks().stream()
                .map(tick -> tick.plannedAt().toString().substring(11, 16))
                .toList();
    }

    private static Instant at(String time) {
        return Instant.parse("2026-05-04T" + time + ":00Z");
    }
}
