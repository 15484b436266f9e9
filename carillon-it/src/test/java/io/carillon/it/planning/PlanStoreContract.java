package io.carillon.it.planning;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.schedule.PlanStore;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.LedgerCoverage;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Planning by compare-and-set: a plan is written only if its schedule is still as the planner read it. */
abstract class PlanStoreContract extends PlanningContract {
    private static final ScheduleSpec TEN_SECONDS = ScheduleSpec.every(Duration.ofSeconds(10));
    private static final ScheduleSpec HOURLY = ScheduleSpec.every(Duration.ofHours(1));
    private static final Duration GRACE = SchedulePolicies.defaults().grace();

    @Test
    void returns_the_schedules_that_need_ticks_soon_earliest_first() {
        store(HOURLY.named("hourly"));
        store(TEN_SECONDS.named("busy"));
        store(TEN_SECONDS.named("stopped"));
        store(TEN_SECONDS.named("over").when(When.once(at(30))));
        store(ScheduleSpec.every(Duration.ofMinutes(10)).named("ten"));
        storage().schedules().pause(PROJECT, "stopped", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        assertThat(due().schedules()).isEmpty();

        fixture().clock().stopAt(at(30));
        runDue(node());
        assertThat(names(due())).containsExactly("busy");
        fixture().clock().stopAt(at(8 * 60));
        assertThat(names(due())).containsExactly("busy", "ten");
        fixture().clock().stopAt(at(58 * 60));
        assertThat(names(due())).containsExactly("busy", "ten", "hourly");
        assertThat(names(storage().plans().due(REACH, 2))).containsExactly("busy", "ten");
    }

    private static List<String> names(PlanStore.DueSchedules due) {
        return due.schedules().stream().map(Schedule::name).toList();
    }

    @Test
    void a_plan_written_twice_creates_its_ticks_once() {
        store(TEN_SECONDS);
        advance(Duration.ofSeconds(60));
        List<TickPlan> plans = plans(due());
        assertThat(storage().plans().write(plans)).hasSize(1);
        String before = fixture().dump();

        assertThat(storage().plans().write(plans)).isEmpty();

        assertThat(fixture().dump()).isEqualTo(before);
    }

    @Test
    void a_plan_made_before_two_others_were_written_writes_nothing() {
        store(TEN_SECONDS);
        advance(Duration.ofSeconds(60));
        List<TickPlan> stalled = plans(due());
        plan();
        runDue(node());
        advance(Duration.ofSeconds(60));
        plan();
        String before = fixture().dump();

        assertThat(storage().plans().write(stalled)).isEmpty();

        assertThat(fixture().dump()).isEqualTo(before);
    }

    @Test
    void a_plan_made_before_an_edit_a_pause_or_a_delete_writes_nothing() {
        List<Runnable> changes = List.of(
                () -> store(TEN_SECONDS.payload("second")),
                () -> storage()
                        .schedules()
                        .pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null)),
                () -> storage().schedules().resume(PROJECT, "report"),
                () -> storage().schedules().delete(PROJECT, "report"));
        store(TEN_SECONDS);
        for (Runnable change : changes) {
            advance(Duration.ofSeconds(60));
            List<TickPlan> stalled = List.of(PLANNER.plan(
                    schedule("report"), List.of(), fixture().clock().now()));
            change.run();
            String before = fixture().dump();

            assertThat(storage().plans().write(stalled)).isEmpty();

            assertThat(fixture().dump()).isEqualTo(before);
        }
    }

    @Test
    void a_plan_made_before_an_edit_that_did_not_move_the_cursor_writes_nothing() {
        store(TEN_SECONDS);
        Schedule read = schedule("report");
        TickPlanner longerLookAhead = new TickPlanner(Duration.ofMinutes(5), 64);
        List<TickPlan> stalled =
                List.of(longerLookAhead.plan(read, List.of(), fixture().clock().now()));
        store(TEN_SECONDS.payload("second"));
        assertThat(schedule("report").planningState().cursor())
                .isEqualTo(read.planningState().cursor());
        String before = fixture().dump();

        assertThat(storage().plans().write(stalled)).isEmpty();

        assertThat(fixture().dump()).isEqualTo(before);
    }

    @Test
    void one_of_several_concurrent_planners_advances_each_schedule() {
        for (int i = 0; i < 40; i++) store(TEN_SECONDS.named("s" + i));
        advance(Duration.ofSeconds(60));
        List<PlanStore.DueSchedules> read = List.of(due(), due(), due(), due(), due(), due(), due(), due());

        List<Integer> moved = Concurrently.run(
                8,
                thread -> (thread % 2 == 0 ? storage() : fixture().secondStorage())
                        .plans()
                        .write(plans(read.get(thread)))
                        .size());

        assertThat(moved.stream().mapToInt(Integer::intValue).sum()).isEqualTo(40);
        planAll();
        for (int i = 0; i < 40; i++)
            assertThat(LedgerCoverage.violations(
                            ledger("s" + i),
                            List.of(new LedgerCoverage.Span(
                                    StoreFixture.NOON, at(180), When.every(Duration.ofSeconds(10))))))
                    .isEmpty();
    }

    @Test
    void a_tick_not_started_in_time_is_resolved_as_missed_and_not_claimed() {
        store(HOURLY);
        advance(Duration.ofMinutes(59));
        plan();
        advance(Duration.ofMinutes(1).plus(GRACE).minusMillis(1));
        UUID node = node();
        storage().runs().handBack(node, List.of(claimOne(node)));
        fixture().clear();
        store(HOURLY);
        advance(Duration.ofMinutes(59));
        plan();
        advance(Duration.ofMinutes(1).plus(GRACE));

        assertThat(claim(node(), 1)).isEmpty();
        PlanStore.DueSchedules due = due();

        assertThat(due.late().values())
                .singleElement()
                .satisfies(late -> assertThat(late)
                        .extracting(TickPlan.LateTick::plannedAt)
                        .containsExactly(at(3_600)));
        assertThat(storage().plans().write(plans(due))).hasSize(1);
        assertThat(runDue(node())).containsExactly(at(3_600));
    }

    @Test
    void the_latest_missed_instant_runs_and_the_others_are_recorded() {
        store(TEN_SECONDS);
        advance(Duration.ofHours(2));

        planAll();

        List<Instant> run = runDue(node());
        assertThat(run)
                .contains(at(7_200).minus(GRACE))
                .allMatch(at -> !at.isBefore(at(7_200).minus(GRACE)));
        assertThat(lines("report").subList(0, 2))
                .containsOnly(
                        "12:00:10 missed only the latest missed instant runs",
                        "12:00:20 missed only the latest missed instant runs");
        coveredFromNoon();
    }

    private void coveredFromNoon() {
        assertThat(LedgerCoverage.violations(
                        ledger("report"),
                        List.of(new LedgerCoverage.Span(
                                StoreFixture.NOON,
                                schedule("report").planningState().cursor(),
                                When.every(Duration.ofSeconds(10))))))
                .isEmpty();
    }

    @Test
    void the_policy_skip_runs_no_late_tick() {
        store(TEN_SECONDS.missed(MissedPolicy.SKIP));
        advance(Duration.ofHours(2));

        planAll();

        assertThat(runDue(node())).allMatch(at -> at.isAfter(at(7_200).minus(GRACE)));
        coveredFromNoon();
    }

    @Test
    void instants_older_than_the_catch_up_window_do_not_run() {
        store(HOURLY.policies(SchedulePolicies.defaults().catchUp(Duration.ofMinutes(10))));
        advance(Duration.ofMinutes(80));

        planAll();

        assertThat(claim(node(), 9)).isEmpty();
        assertThat(lines("report").get(0)).isEqualTo("13:00:00-13:00:00 1 missed older than the catch-up window");
    }

    @Test
    void late_runs_that_were_not_started_do_not_accumulate() {
        store(HOURLY);
        for (int hour = 0; hour < 5; hour++) {
            advance(Duration.ofHours(1).plusMinutes(hour == 0 ? 10 : 0));
            planAll();
        }

        assertThat(runDue(node())).containsExactly(at(5 * 3_600));
    }

    @Test
    void a_late_tick_claimed_after_the_planner_read_it_is_not_resolved() {
        store(HOURLY);
        advance(Duration.ofMinutes(59));
        plan();
        advance(Duration.ofMinutes(3));
        UUID node = node();
        Attempt started = claimOne(node);
        storage().runs().handBackRows(node, storage().runs().ownedRuns(node), Set.of(started.run()), true);
        advance(Duration.ofMinutes(5));
        List<TickPlan> stale = List.of(PLANNER.plan(
                schedule("report"),
                List.of(new TickPlan.LateTick(started.run().value(), at(3_600), false)),
                fixture().clock().now()));
        String before = fixture().dump();

        assertThat(storage().plans().write(stale)).isEmpty();

        assertThat(fixture().dump()).isEqualTo(before);
        assertThat(claimOne(node).run()).isEqualTo(started.run());
    }

    @Test
    void if_one_of_several_late_ticks_was_started_meanwhile_none_is_resolved() {
        store(HOURLY);
        advance(Duration.ofMinutes(70));
        planAll();
        advance(Duration.ofMinutes(49));
        planAll();
        advance(Duration.ofMinutes(10));
        PlanStore.DueSchedules due = due();
        assertThat(due.late().values())
                .singleElement()
                .satisfies(late -> assertThat(late).hasSize(2));
        UUID node = node();
        assertThat(claimOne(node).times().plannedAt()).isEqualTo(at(3_600));
        String before = fixture().dump();

        assertThat(storage().plans().write(plans(due))).isEmpty();

        assertThat(fixture().dump()).isEqualTo(before);
        planAll();
        assertThat(claimOne(node).times().plannedAt()).isEqualTo(at(7_200));
    }

    @Test
    void resolving_missed_ticks_during_claims_gives_each_tick_one_outcome() {
        for (int round = 0; round < 10; round++) {
            store(TEN_SECONDS);
            advance(Duration.ofSeconds(100).plus(GRACE));
            PlanStore.DueSchedules due = due();
            UUID node = node();
            fixture().clock().stopAt(at(105).plus(GRACE));

            Concurrently.run(
                    3,
                    thread -> thread == 0
                            ? storage().plans().write(plans(due)).size()
                            : runDue(node).size());

            planAll();
            runDue(node);
            coveredFromNoon();
            fixture().clear();
        }
    }

    @Test
    void a_schedule_that_cannot_be_planned_does_not_stop_the_others() {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            store(TEN_SECONDS.named("s" + i));
            names.add("s" + i);
        }
        refusePlansOf("s4");
        advance(Duration.ofHours(2));
        names.remove("s4");

        assertThat(plan()).isEqualTo(8);

        for (String name : names)
            assertThat(schedule(name).planningState().cursor()).isAfter(at(7_200));
        assertThat(schedule("s4").planningState().cursor()).isBefore(at(7_200));
    }

    /** Makes the store reject each plan of this schedule. */
    abstract void refusePlansOf(String name);

    @Test
    void ten_thousand_planned_instants_do_not_drift_when_planning_and_execution_are_late() {
        Random random = new Random(4);
        for (int i = 0; i < 25; i++) {
            var start = at(i + 1).plusMillis(40L * i).atZone(ZoneOffset.UTC);
            store(ScheduleSpec.of(When.every(7, ChronoUnit.SECONDS, start)).named("s" + i));
        }
        UUID node = node();
        int fired = 0;
        while (fired < 10_000) {
            advance(Duration.ofMillis(random.nextInt(110_000)));
            plan();
            fired += runDue(node).size();
        }

        for (int i = 0; i < 25; i++) {
            Instant start = at(i + 1).plusMillis(40L * i);
            List<LedgerEntry> ledger = ledger("s" + i);
            assertThat(ledger).hasSizeGreaterThanOrEqualTo(400);
            for (int k = 0; k < ledger.size(); k++)
                assertThat(ledger.get(k).from()).isEqualTo(start.plusSeconds(7L * k));
        }
    }

    @Test
    void many_schedules_with_an_interval_of_one_second_are_planned_in_one_write() {
        for (int i = 0; i < 300; i++)
            store(ScheduleSpec.every(Duration.ofSeconds(1)).named("s" + i));
        advance(Duration.ofSeconds(64));
        List<TickPlan> plans = plans(due());
        assertThat(plans).hasSize(300);

        long before = System.nanoTime();
        assertThat(storage().plans().write(plans)).hasSize(300);
        long millis = (System.nanoTime() - before) / 1_000_000;

        assertThat(millis).as("milliseconds for 300 x 64 ticks").isLessThan(8_000);
        assertThat(storage().lanes().list(PROJECT).get(0).counts().waiting()).isEqualTo(10_000);
    }
}
