package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.schedule.Missed;
import io.carillon.schedule.Policies;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.TickPlan;
import io.carillon.schedule.TickPlanner;
import io.carillon.schedule.When;
import io.carillon.store.LedgerEntry;
import io.carillon.store.PlanStore;
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

/** Planning by compare-and-set: what was read must still be so when it is written. */
abstract class PlanStoreContract extends PlanningContract {
    private static final Promise TEN_SECONDS = Promise.every(Duration.ofSeconds(10));
    private static final Promise HOURLY = Promise.every(Duration.ofHours(1));
    private static final Duration GRACE = Policies.defaults().grace();

    @Test
    void finds_the_schedules_that_need_ticks_soon_earliest_first() {
        store(HOURLY.named("hourly"));
        store(TEN_SECONDS.named("busy"));
        store(TEN_SECONDS.named("stopped"));
        store(TEN_SECONDS.named("over").when(When.once(at(30))));
        store(Promise.every(Duration.ofMinutes(10)).named("ten"));
        storage().schedules().pause(PROJECT, "stopped", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        assertThat(due().schedules()).isEmpty();

        bench().clock().at(at(30));
        runDue(node());
        assertThat(names(due())).containsExactly("busy");
        bench().clock().at(at(8 * 60));
        assertThat(names(due())).containsExactly("busy", "ten");
        bench().clock().at(at(58 * 60));
        assertThat(names(due())).containsExactly("busy", "ten", "hourly");
        assertThat(names(storage().plans().due(REACH, 2))).containsExactly("busy", "ten");
    }

    private static List<String> names(PlanStore.DueSchedules due) {
        return due.schedules().stream().map(Schedule::name).toList();
    }

    @Test
    void a_plan_written_twice_makes_its_ticks_once() {
        store(TEN_SECONDS);
        advance(Duration.ofSeconds(60));
        List<TickPlan> plans = plans(due());
        assertThat(storage().plans().write(plans)).hasSize(1);
        String before = bench().print();

        assertThat(storage().plans().write(plans)).isEmpty();

        assertThat(bench().print()).isEqualTo(before);
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
        String before = bench().print();

        assertThat(storage().plans().write(stalled)).isEmpty();

        assertThat(bench().print()).isEqualTo(before);
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
            List<TickPlan> stalled = List.of(
                    PLANNER.plan(schedule("report"), List.of(), bench().clock().now()));
            change.run();
            String before = bench().print();

            assertThat(storage().plans().write(stalled)).isEmpty();

            assertThat(bench().print()).isEqualTo(before);
        }
    }

    @Test
    void a_plan_made_before_an_edit_that_left_the_cursor_where_it_was_writes_nothing() {
        store(TEN_SECONDS);
        Schedule read = schedule("report");
        TickPlanner farSighted = new TickPlanner(Duration.ofMinutes(5), 64);
        List<TickPlan> stalled =
                List.of(farSighted.plan(read, List.of(), bench().clock().now()));
        store(TEN_SECONDS.payload("second"));
        assertThat(schedule("report").progress().cursor())
                .isEqualTo(read.progress().cursor());
        String before = bench().print();

        assertThat(storage().plans().write(stalled)).isEmpty();

        assertThat(bench().print()).isEqualTo(before);
    }

    @Test
    void of_many_who_plan_the_same_schedules_each_schedule_is_moved_by_one() {
        for (int i = 0; i < 40; i++) store(TEN_SECONDS.named("s" + i));
        advance(Duration.ofSeconds(60));
        List<PlanStore.DueSchedules> read = List.of(due(), due(), due(), due(), due(), due(), due(), due());

        List<Integer> moved = Together.run(
                8,
                thread -> (thread % 2 == 0 ? storage() : bench().another())
                        .plans()
                        .write(plans(read.get(thread)))
                        .size());

        assertThat(moved.stream().mapToInt(Integer::intValue).sum()).isEqualTo(40);
        planAll();
        for (int i = 0; i < 40; i++)
            assertThat(Coverage.faults(
                            ledger("s" + i),
                            List.of(new Coverage.Span(StoreBench.NOON, at(180), When.every(Duration.ofSeconds(10))))))
                    .isEmpty();
    }

    @Test
    void a_tick_not_started_in_time_is_not_claimed_but_settled() {
        store(HOURLY);
        advance(Duration.ofMinutes(59));
        plan();
        advance(Duration.ofMinutes(1).plus(GRACE).minusMillis(1));
        UUID node = node();
        storage().runs().handBack(node, List.of(claimOne(node)));
        bench().clear();
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
    void of_late_ticks_and_instants_never_planned_one_runs_and_the_others_are_recorded() {
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
        assertThat(Coverage.faults(
                        ledger("report"),
                        List.of(new Coverage.Span(
                                StoreBench.NOON,
                                schedule("report").progress().cursor(),
                                When.every(Duration.ofSeconds(10))))))
                .isEmpty();
    }

    @Test
    void with_the_policy_skip_nothing_late_runs() {
        store(TEN_SECONDS.missed(Missed.SKIP));
        advance(Duration.ofHours(2));

        planAll();

        assertThat(runDue(node())).allMatch(at -> at.isAfter(at(7_200).minus(GRACE)));
        coveredFromNoon();
    }

    @Test
    void what_is_older_than_the_catch_up_window_does_not_run() {
        store(HOURLY.policies(Policies.defaults().catchUp(Duration.ofMinutes(10))));
        advance(Duration.ofMinutes(80));

        planAll();

        assertThat(claim(node(), 9)).isEmpty();
        assertThat(lines("report").get(0)).isEqualTo("13:00:00-13:00:00 1 missed older than the catch-up window");
    }

    @Test
    void late_runs_that_nobody_started_do_not_pile_up() {
        store(HOURLY);
        for (int hour = 0; hour < 5; hour++) {
            advance(Duration.ofHours(1).plusMinutes(hour == 0 ? 10 : 0));
            planAll();
        }

        assertThat(runDue(node())).containsExactly(at(5 * 3_600));
    }

    @Test
    void a_late_tick_that_somebody_starts_after_it_was_read_is_left_to_him() {
        store(HOURLY);
        advance(Duration.ofMinutes(59));
        plan();
        advance(Duration.ofMinutes(3));
        UUID node = node();
        Attempt started = claimOne(node);
        storage().runs().handBackRows(node, storage().runs().held(node), Set.of(started.run()), true);
        advance(Duration.ofMinutes(5));
        List<TickPlan> stale = List.of(PLANNER.plan(
                schedule("report"),
                List.of(new TickPlan.LateTick(started.run().value(), at(3_600), false)),
                bench().clock().now()));
        String before = bench().print();

        assertThat(storage().plans().write(stale)).isEmpty();

        assertThat(bench().print()).isEqualTo(before);
        assertThat(claimOne(node).run()).isEqualTo(started.run());
    }

    @Test
    void if_one_of_several_late_ticks_was_started_meanwhile_nothing_is_settled() {
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
        String before = bench().print();

        assertThat(storage().plans().write(plans(due))).isEmpty();

        assertThat(bench().print()).isEqualTo(before);
        planAll();
        assertThat(claimOne(node).times().plannedAt()).isEqualTo(at(7_200));
    }

    @Test
    void settling_against_claiming_gives_each_late_tick_one_fate() {
        for (int round = 0; round < 10; round++) {
            store(TEN_SECONDS);
            advance(Duration.ofSeconds(100).plus(GRACE));
            PlanStore.DueSchedules due = due();
            UUID node = node();
            bench().clock().at(at(105).plus(GRACE));

            Together.run(
                    3,
                    thread -> thread == 0
                            ? storage().plans().write(plans(due)).size()
                            : runDue(node).size());

            planAll();
            runDue(node);
            coveredFromNoon();
            bench().clear();
        }
    }

    @Test
    void a_schedule_that_cannot_be_planned_does_not_stop_the_others() {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            store(TEN_SECONDS.named("s" + i));
            names.add("s" + i);
        }
        poison("s4");
        advance(Duration.ofHours(2));
        names.remove("s4");

        assertThat(plan()).isEqualTo(8);

        for (String name : names) assertThat(schedule(name).progress().cursor()).isAfter(at(7_200));
        assertThat(schedule("s4").progress().cursor()).isBefore(at(7_200));
    }

    /** Makes the store refuse whatever is planned for this schedule. */
    abstract void poison(String name);

    @Test
    void ten_thousand_firings_lie_on_their_grid_however_late_they_are_planned_and_run() {
        Random random = new Random(4);
        for (int i = 0; i < 25; i++) {
            var start = at(i + 1).plusMillis(40L * i).atZone(ZoneOffset.UTC);
            store(Promise.of(When.every(7, ChronoUnit.SECONDS, start)).named("s" + i));
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
    void many_schedules_of_every_second_are_planned_in_one_write() {
        for (int i = 0; i < 300; i++) store(Promise.every(Duration.ofSeconds(1)).named("s" + i));
        advance(Duration.ofSeconds(64));
        List<TickPlan> plans = plans(due());
        assertThat(plans).hasSize(300);

        long before = System.nanoTime();
        assertThat(storage().plans().write(plans)).hasSize(300);
        long millis = (System.nanoTime() - before) / 1_000_000;

        assertThat(millis).as("milliseconds for 300 x 64 ticks").isLessThan(8_000);
        assertThat(storage().lanes().list(PROJECT).get(0).waiting()).isEqualTo(10_000);
    }
}
