package io.carillon.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleId;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.TestSchedules;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
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
    private static final SchedulePolicies DEFAULTS = SchedulePolicies.defaults();
    private final TickPlanner planner = TickPlanner.defaults();

    @Test
    void plans_up_to_the_end_of_the_look_ahead_inclusive() {
        TickPlan plan = plan(EVERY_MINUTE, DEFAULTS, NOON, NOON);

        assertThat(planned(plan)).containsExactly("12:01", "12:02");
        assertThat(plan.cursor()).isEqualTo(at("12:02"));
        assertThat(plan.nextAt()).isEqualTo(at("12:03"));
        assertThat(plan.gaps()).isEmpty();
        assertThat(plan.lateDecisions()).isEmpty();
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

        assertThat(plan.isEmpty()).isTrue();
        assertThat(plan.nextAt()).isEqualTo(Instant.parse("2027-01-01T00:00:00Z"));
    }

    @Test
    void continues_in_the_next_round_where_the_cap_stopped() {
        TickPlanner few = new TickPlanner(Duration.ofMinutes(10), 3);
        Schedule schedule = TestSchedules.schedule(EVERY_MINUTE, DEFAULTS, NOON);
        List<String> all = new ArrayList<>();

        for (int round = 0; round < 4; round++) {
            TickPlan plan = few.plan(schedule, List.of(), NOON);
            assertThat(plan.ticks()).hasSizeLessThanOrEqualTo(3);
            all.addAll(planned(plan));
            schedule = TestSchedules.afterPlan(plan);
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

        // 11:55 may start until 12:00, exclusive, as in the claim.
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
                .containsExactly(new TickPlan.LedgerGap(
                        at("10:01"), at("11:54"), 114, "missed", "only the latest missed instant runs"));
        assertThat(planned(plan).subList(1, 3)).containsExactly("11:56", "11:57");
    }

    @Test
    void records_no_gap_when_a_single_missed_instant_runs() {
        TickPlan plan = plan(When.cron("0 11 * * *", "UTC"), DEFAULTS, at("10:00"), NOON);

        assertThat(planned(plan)).containsExactly("11:00");
        assertThat(plan.gaps()).isEmpty();
        assertThat(plan.cursor()).isEqualTo(at("11:00"));
    }

    @Test
    void skips_all_missed_instants_under_the_policy_skip() {
        TickPlan plan = plan(EVERY_MINUTE, DEFAULTS.missed(MissedPolicy.SKIP), at("10:00"), NOON);

        assertThat(planned(plan).get(0)).isEqualTo("11:56");
        assertThat(plan.gaps())
                .containsExactly(
                        new TickPlan.LedgerGap(at("10:01"), at("11:55"), 115, "missed", "missed instants are skipped"));
    }

    @Test
    void catches_up_only_within_the_window_both_ends_inclusive() {
        When daily = When.cron("0 11 * * *", "UTC");
        SchedulePolicies hour = DEFAULTS.catchUp(Duration.ofHours(1));

        TickPlan inside = plan(daily, hour, at("10:00"), NOON);
        TickPlan outside = plan(daily, hour, at("10:00"), NOON.plusNanos(1_000));

        assertThat(planned(inside)).containsExactly("11:00");
        assertThat(outside.ticks()).isEmpty();
        assertThat(outside.gaps())
                .containsExactly(new TickPlan.LedgerGap(
                        at("11:00"), at("11:00"), 1, "missed", "older than the catch-up window"));
    }

    @Test
    void decides_once_about_late_ticks_and_instants_never_planned() {
        TickPlan.LateTick first = TestSchedules.late("2026-05-04T11:30:00Z");
        TickPlan.LateTick second = TestSchedules.late("2026-05-04T11:31:00Z");

        TickPlan both =
                planner.plan(TestSchedules.schedule(EVERY_MINUTE, DEFAULTS, at("11:31")), List.of(second, first), NOON);
        TickPlan onlyLate =
                planner.plan(TestSchedules.schedule(EVERY_MINUTE, DEFAULTS, at("12:02")), List.of(second, first), NOON);

        assertThat(both.lateDecisions()).hasSize(2).noneMatch(TickPlan.LateDecision::runsLate);
        assertThat(both.ticks())
                .filteredOn(tick -> tick.startBy().equals(Instant.MAX))
                .hasSize(1);
        assertThat(onlyLate.lateDecisions())
                .containsExactly(
                        new TickPlan.LateDecision(
                                first.run(), first.plannedAt(), NOON, "only the latest missed instant runs"),
                        new TickPlan.LateDecision(second.run(), second.plannedAt(), NOON, null));
        assertThat(onlyLate.ticks()).isEmpty();
        assertThat(onlyLate.isEmpty()).isFalse();
    }

    @Test
    void run_all_runs_the_latest_up_to_its_cap_and_spreads_them() {
        SchedulePolicies three = DEFAULTS.missed(MissedPolicy.RUN_ALL)
                .runAll(new SchedulePolicies.RunAllLimits(3, Duration.ofSeconds(10)));
        TickPlan.LateTick first = TestSchedules.late("2026-05-04T11:52:00Z");
        TickPlan.LateTick second = TestSchedules.late("2026-05-04T11:53:00Z");

        TickPlan plan =
                planner.plan(TestSchedules.schedule(EVERY_MINUTE, three, at("11:53")), List.of(first, second), NOON);

        assertThat(plan.lateDecisions())
                .containsExactly(
                        new TickPlan.LateDecision(
                                first.run(), first.plannedAt(), NOON, "only the latest 3 missed instants run"),
                        new TickPlan.LateDecision(second.run(), second.plannedAt(), NOON, null));
        assertThat(plan.ticks().subList(0, 2))
                .extracting(TickPlan.Tick::plannedAt, TickPlan.Tick::dueAt, TickPlan.Tick::startBy)
                .containsExactly(
                        tuple(at("11:54"), NOON.plusSeconds(10), Instant.MAX),
                        tuple(at("11:55"), NOON.plusSeconds(20), Instant.MAX));
        assertThat(plan.gaps()).isEmpty();
    }

    @Test
    void ticks_approved_earlier_count_toward_the_cap_and_stay_unchanged() {
        SchedulePolicies two =
                DEFAULTS.missed(MissedPolicy.RUN_ALL).runAll(new SchedulePolicies.RunAllLimits(2, Duration.ZERO));
        List<TickPlan.LateTick> late = List.of(
                new TickPlan.LateTick(UUID.randomUUID(), at("11:40"), true),
                new TickPlan.LateTick(UUID.randomUUID(), at("11:41"), true),
                new TickPlan.LateTick(UUID.randomUUID(), at("11:42"), false));

        TickPlan plan = planner.plan(TestSchedules.schedule(EVERY_MINUTE, two, at("12:02")), late, NOON);

        assertThat(plan.lateDecisions())
                .extracting(TickPlan.LateDecision::run, TickPlan.LateDecision::runsLate)
                .containsExactly(
                        tuple(late.get(0).run(), false), tuple(late.get(2).run(), true));
    }

    @Test
    void distinguishes_too_old_instants_from_left_out_instants() {
        TickPlan plan = plan(EVERY_MINUTE, DEFAULTS.catchUp(Duration.ofHours(1)), at("10:00"), NOON);

        assertThat(plan.gaps())
                .containsExactly(
                        new TickPlan.LedgerGap(
                                at("10:01"), at("10:59"), 59, "missed", "older than the catch-up window"),
                        new TickPlan.LedgerGap(
                                at("11:00"), at("11:54"), 55, "missed", "only the latest missed instant runs"));
    }

    @Test
    void an_excluded_date_gets_one_entry_when_it_has_passed() {
        When hourly = When.cron("0 * * * *", "UTC").except(LocalDate.parse("2026-05-04"));
        Instant monday = Instant.parse("2026-05-03T23:30:00Z");

        TickPlan before = plan(hourly, DEFAULTS, monday, monday);
        TickPlan during = planner.plan(TestSchedules.afterPlan(before), List.of(), NOON);
        TickPlan after =
                planner.plan(TestSchedules.afterPlan(during), List.of(), Instant.parse("2026-05-04T23:58:30Z"));

        assertThat(before.nextAt()).isEqualTo(Instant.parse("2026-05-05T00:00:00Z"));
        assertThat(before.isEmpty()).isTrue();
        assertThat(during.isEmpty()).isTrue();
        assertThat(after.gaps())
                .containsExactly(new TickPlan.LedgerGap(
                        Instant.parse("2026-05-04T00:00:00Z"),
                        Instant.parse("2026-05-04T23:00:00Z"),
                        24,
                        "skipped",
                        "excluded date"));
        assertThat(planned(after)).containsExactly("00:00");
    }

    @Test
    void an_excluded_date_within_an_outage_was_excluded_and_not_missed() {
        When hourly = When.cron("0 * * * *", "UTC").except(LocalDate.parse("2026-05-03"));

        TickPlan plan = plan(hourly, DEFAULTS.missed(MissedPolicy.SKIP), Instant.parse("2026-05-02T22:30:00Z"), NOON);

        assertThat(plan.gaps())
                .extracting(TickPlan.LedgerGap::count, TickPlan.LedgerGap::reason)
                .containsExactly(
                        tuple(1L, "missed instants are skipped"),
                        tuple(24L, "excluded date"),
                        tuple(12L, "missed instants are skipped"));
    }

    @Test
    void creates_at_most_max_runs_ticks() {
        When three = EVERY_MINUTE.maxRuns(3);

        TickPlan first = plan(three, DEFAULTS, NOON, NOON);
        TickPlan second = planner.plan(TestSchedules.afterPlan(first), List.of(), at("12:02"));
        TickPlan third = planner.plan(TestSchedules.afterPlan(second), List.of(), at("12:04"));

        assertThat(planned(first)).containsExactly("12:01", "12:02");
        assertThat(planned(second)).containsExactly("12:03");
        assertThat(second.nextAt()).isEqualTo(Instant.MAX);
        assertThat(third.isEmpty()).isTrue();
    }

    @Test
    void late_runs_count_toward_max_runs() {
        SchedulePolicies all = DEFAULTS.missed(MissedPolicy.RUN_ALL);

        TickPlan plan = plan(EVERY_MINUTE.maxRuns(2), all, at("11:00"), NOON);

        assertThat(planned(plan)).containsExactly("11:54", "11:55");
        assertThat(plan.nextAt()).isEqualTo(Instant.MAX);
    }

    @Test
    void counts_ten_years_of_seconds_without_iteration() {
        TickPlan plan = plan(
                When.every(Duration.ofSeconds(1)),
                DEFAULTS.missed(MissedPolicy.SKIP),
                Instant.parse("2016-05-04T12:00:00Z"),
                NOON);

        assertThat(plan.gaps())
                .singleElement()
                .satisfies(ledgerGap -> assertThat(ledgerGap.count())
                        .isEqualTo(Duration.between(Instant.parse("2016-05-04T12:00:00Z"), NOON)
                                        .toSeconds()
                                - 300));
    }

    @Test
    void runs_no_late_tick_that_is_skipped_or_too_old() {
        List<TickPlan.LateTick> late =
                List.of(TestSchedules.late("2026-05-04T09:00:00Z"), TestSchedules.late("2026-05-04T10:00:00Z"));
        Schedule skip = TestSchedules.schedule(EVERY_MINUTE, DEFAULTS.missed(MissedPolicy.SKIP), at("12:02"));
        Schedule old = TestSchedules.schedule(EVERY_MINUTE, DEFAULTS.catchUp(Duration.ofHours(1)), at("12:02"));

        assertThat(planner.plan(skip, late, NOON).lateDecisions())
                .extracting(TickPlan.LateDecision::reason)
                .containsOnly("missed instants are skipped");
        assertThat(planner.plan(old, late, NOON).lateDecisions())
                .noneMatch(TickPlan.LateDecision::runsLate)
                .last()
                .extracting(TickPlan.LateDecision::reason)
                .isEqualTo("older than the catch-up window");
    }

    @Test
    void fires_exactly_at_the_end_and_never_after() {
        When bounded = EVERY_MINUTE.from(at("12:01")).until(at("12:01"));

        TickPlan plan = plan(bounded, DEFAULTS, NOON, NOON);
        TickPlan after = planner.plan(TestSchedules.afterPlan(plan), List.of(), at("12:10"));

        assertThat(planned(plan)).containsExactly("12:01");
        assertThat(plan.nextAt()).isEqualTo(Instant.MAX);
        assertThat(after.isEmpty()).isTrue();
    }

    @Test
    void runs_a_one_off_of_the_past_late_or_records_it() {
        When once = When.once(at("11:00"));

        assertThat(planned(plan(once, DEFAULTS, at("10:00"), NOON))).containsExactly("11:00");
        assertThat(plan(once, DEFAULTS.missed(MissedPolicy.SKIP), at("10:00"), NOON)
                        .gaps())
                .hasSize(1);
        assertThat(plan(once, DEFAULTS, at("11:00"), NOON).isEmpty()).isTrue();
    }

    @Test
    void stops_at_the_end_of_the_year_9999() {
        Instant last = Instant.parse("9999-12-31T23:59:00Z");
        Instant lastButOne = last.minusSeconds(60);

        TickPlan plan = plan(EVERY_MINUTE, DEFAULTS, lastButOne, lastButOne);

        assertThat(plan.ticks()).extracting(TickPlan.Tick::plannedAt).containsExactly(last);
        assertThat(plan.nextAt()).isEqualTo(Instant.MAX);
        assertThat(planner.plan(TestSchedules.afterPlan(plan), List.of(), last).isEmpty())
                .isTrue();
    }

    @Test
    void does_not_drift_in_ten_thousand_ticks() {
        Instant start = Instant.parse("2026-05-04T12:00:00.123456Z");
        When every = When.every(7, ChronoUnit.SECONDS, start.atZone(ZoneOffset.UTC));
        Schedule schedule = TestSchedules.schedule(every, DEFAULTS, start);
        List<Instant> fired = new ArrayList<>();
        Instant now = start;

        while (fired.size() < 10_000) {
            TickPlan plan = planner.plan(schedule, List.of(), now);
            plan.ticks().forEach(tick -> fired.add(tick.plannedAt()));
            schedule = TestSchedules.afterPlan(plan);
            // The rounds never coincide with planned instants and vary in length.
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
            TickPlan one = planner.plan(TestSchedules.schedule(id, jittered, DEFAULTS, NOON), List.of(), NOON);
            TickPlan again =
                    planner.plan(TestSchedules.schedule(id, jittered, DEFAULTS, NOON), List.of(), NOON.plusSeconds(9));
            TickPlan.Tick tick = one.ticks().get(0);
            offsets.add(Duration.between(tick.plannedAt(), tick.dueAt()));

            assertThat(again.ticks().get(0).dueAt()).isEqualTo(tick.dueAt());
            assertThat(tick.startBy()).isEqualTo(tick.dueAt().plus(Duration.ofMinutes(5)));
        }

        assertThat(offsets).allMatch(offset -> !offset.isNegative() && offset.toSeconds() < 60);
        assertThat(offsets.stream().map(Duration::toSeconds).distinct()).hasSizeGreaterThan(30);
    }

    private TickPlan plan(When when, SchedulePolicies schedulePolicies, Instant cursor, Instant now) {
        return planner.plan(TestSchedules.schedule(when, schedulePolicies, cursor), List.of(), now);
    }

    private static List<String> planned(TickPlan plan) {
        return plan.ticks().stream()
                .map(tick -> tick.plannedAt().toString().substring(11, 16))
                .toList();
    }

    private static Instant at(String time) {
        return Instant.parse("2026-05-04T" + time + ":00Z");
    }

    @Test
    void late_runs_of_many_schedules_fall_due_one_after_the_other() {
        Instant now = Instant.parse("2026-03-02T12:00:00Z");
        When hourly = When.every(Duration.ofHours(1));
        List<Instant> few = new ArrayList<>();
        List<Instant> many = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            Schedule schedule = TestSchedules.schedule(
                    hourly,
                    SchedulePolicies.defaults(),
                    now.minus(Duration.ofHours(3)).minusSeconds(1));
            Instant later = now.plus(Duration.ofMinutes(10));
            few.add(TickPlanner.defaults()
                    .plan(schedule, List.of(), later, 99)
                    .ticks()
                    .get(0)
                    .dueAt());
            TickPlan plan = TickPlanner.defaults().plan(schedule, List.of(), later, 1_000);
            many.add(plan.ticks().get(0).dueAt());
            assertThat(TickPlanner.defaults()
                            .plan(schedule, List.of(), later, 1_000)
                            .ticks()
                            .get(0)
                            .dueAt())
                    .as("the same due time on every node")
                    .isEqualTo(many.get(i));
            assertThat(TickPlanner.defaults()
                            .plan(schedule, List.of(), later, 1_000_000)
                            .ticks()
                            .get(0)
                            .dueAt())
                    .isBefore(later.plusSeconds(60));
        }

        assertThat(few).containsOnly(now.plus(Duration.ofMinutes(10)));
        assertThat(many)
                .allMatch(at -> at.isBefore(now.plus(Duration.ofMinutes(10)).plusSeconds(10)));
        assertThat(many.stream().map(at -> at.getEpochSecond()).distinct())
                .as("spread over ten seconds")
                .hasSize(10);
    }
}
