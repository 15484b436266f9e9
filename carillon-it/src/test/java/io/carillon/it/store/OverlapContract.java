package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.schedule.Missed;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.Policies;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.store.Beat;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every storage makes of instants that fall due while an earlier run of their schedule has not ended. The schedule fires every ten seconds from noon. */
abstract class OverlapContract extends PlanningContract {
    private static final Duration TEN = Duration.ofSeconds(10);

    private UUID node;

    /** Stores the schedule, and claims the first instant. */
    private Attempt firstHeld(Overlap overlap) {
        return firstHeld(Policies.defaults().overlap(overlap));
    }

    private Attempt firstHeld(Policies policies) {
        node = node();
        store(Promise.every(TEN).policies(policies));
        step();
        return claimOne(node);
    }

    /** Ten seconds pass, with planning and gates as on a node. */
    private void step() {
        advance(TEN);
        planAll();
        passGates();
    }

    private List<String> past() {
        Instant now = bench().clock().now();
        return lines("report").stream()
                .filter(line -> line.substring(0, 8).compareTo(now.toString().substring(11, 19)) <= 0)
                .toList();
    }

    @Test
    void allow_lets_both_run() {
        firstHeld(Overlap.ALLOW);
        step();

        assertThat(claim(node, 9)).hasSize(1);
    }

    @Test
    void skip_drops_the_new_one_until_the_earlier_has_ended() {
        Attempt first = firstHeld(Overlap.SKIP);
        step();
        step();
        assertThat(claim(node, 9)).isEmpty();
        apply(node, first, new Transition.Retry(TEN.multipliedBy(2), "not now", false));
        step();
        assertThat(claim(node, 9))
                .as("the earlier one waits for its next attempt")
                .isEmpty();
        step();
        apply(node, claimOne(node), complete());
        step();

        assertThat(runDue(node)).containsExactly(at(60));
        assertThat(past())
                .containsExactly(
                        "12:00:10 succeeded",
                        "12:00:20 skipped overlap: an earlier run had not ended",
                        "12:00:30 skipped overlap: an earlier run had not ended",
                        "12:00:40 skipped overlap: an earlier run had not ended",
                        "12:00:50 skipped overlap: an earlier run had not ended",
                        "12:01:00 succeeded");
    }

    @Test
    void queue_one_keeps_the_newest_waiting() {
        Attempt first = firstHeld(Overlap.QUEUE_ONE);
        step();
        step();
        assertThat(claim(node, 9)).isEmpty();
        apply(node, first, complete());
        passGates();

        assertThat(runDue(node)).containsExactly(at(30));
        assertThat(past())
                .containsExactly(
                        "12:00:10 succeeded",
                        "12:00:20 skipped overlap: a newer one waits instead",
                        "12:00:30 succeeded");
    }

    @Test
    void queue_all_runs_one_after_the_other_and_none_of_them_is_late() {
        Attempt first = firstHeld(Policies.defaults()
                .overlap(Overlap.QUEUE_ALL)
                .missed(Missed.SKIP)
                .grace(Duration.ofSeconds(15)));
        for (int i = 0; i < 4; i++) step();
        assertThat(claim(node, 9)).isEmpty();
        apply(node, first, complete());
        passGates();
        planAll();

        assertThat(runDue(node)).containsExactly(at(20));
        passGates();
        assertThat(runDue(node)).containsExactly(at(30));
        passGates();
        planAll();
        assertThat(runDue(node)).containsExactly(at(40));
        assertThat(past()).noneMatch(line -> line.contains("missed"));
    }

    @Test
    void one_let_through_that_nobody_starts_is_missed_after_its_grace() {
        Attempt first = firstHeld(Policies.defaults()
                .overlap(Overlap.QUEUE_ALL)
                .missed(Missed.SKIP)
                .grace(Duration.ofSeconds(15)));
        step();
        step();
        apply(node, first, complete());
        passGates();
        advance(Duration.ofSeconds(16));
        planAll();
        passGates();

        assertThat(past()).contains("12:00:20 missed missed instants are skipped");
        assertThat(runDue(node)).containsExactly(at(30));
    }

    @Test
    void cancel_previous_ends_the_earlier_one_and_starts_when_it_has_ended() {
        Attempt first = firstHeld(Overlap.CANCEL_PREVIOUS);
        step();
        assertThat(claim(node, 9)).as("the earlier one still runs").isEmpty();
        List<Beat.CancelOrder> orders =
                storage().nodes().beat(node, 1, List.of()).cancels();
        assertThat(orders).extracting(Beat.CancelOrder::run).containsExactly(first.run());
        step();
        apply(node, first, new Transition.Cancel(orders.get(0).reason()));
        passGates();

        assertThat(runDue(node)).containsExactly(at(30));
        assertThat(past())
                .containsExactly(
                        "12:00:10 cancelled overlap: a newer run took its place",
                        "12:00:20 skipped overlap: a newer one waits instead",
                        "12:00:30 succeeded");
    }

    @Test
    void cancel_previous_ends_one_that_waits_for_its_next_attempt_at_once() {
        Attempt first = firstHeld(Overlap.CANCEL_PREVIOUS);
        apply(node, first, new Transition.Retry(Duration.ofHours(1), "not now", false));
        step();
        passGates();

        assertThat(runDue(node)).containsExactly(at(20));
        assertThat(get(first.run()).state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void a_trigger_respects_the_policy_and_counts_as_running() {
        Attempt first = firstHeld(Overlap.SKIP);
        RunId skipped = storage().schedules().trigger(PROJECT, "report").orElseThrow();
        passGates();
        assertThat(get(skipped).state()).isEqualTo(RunState.SKIPPED);

        apply(node, first, complete());
        RunId started = storage().schedules().trigger(PROJECT, "report").orElseThrow();
        passGates();
        assertThat(claimOne(node).run()).isEqualTo(started);
        step();
        assertThat(past()).contains("12:00:20 skipped overlap: an earlier run had not ended");
    }

    @Test
    void a_node_that_dies_with_the_run_lets_the_schedule_go_on_after_its_rescue() {
        Attempt first = firstHeld(Overlap.QUEUE_ONE);
        storage().nodes().declareDead(node, 0, "test");
        storage().nodes().sweep(3);
        step();
        UUID survivor = node();
        Attempt again = claimOne(survivor);
        assertThat(again.run()).isEqualTo(first.run());
        assertThat(claim(survivor, 9)).isEmpty();
        apply(survivor, again, complete());
        passGates();

        assertThat(runDue(survivor)).containsExactly(at(20));
    }

    @Test
    void ticks_that_nobody_looked_at_in_time_belong_to_the_missed_policy() {
        node = node();
        store(Promise.every(TEN)
                .policies(Policies.defaults().overlap(Overlap.SKIP).grace(Duration.ofSeconds(15))));
        advance(Duration.ofMinutes(1));
        planAll();
        passGates();

        assertThat(runDue(node)).hasSize(1);
        assertThat(past()).filteredOn(line -> line.contains("missed")).isNotEmpty();
        assertThat(past()).hasSize(6);
    }

    @Test
    void a_pause_ends_those_that_wait_and_an_edit_to_allow_lets_them_run() {
        Attempt first = firstHeld(Overlap.QUEUE_ALL);
        step();
        step();
        store(Promise.every(TEN).policies(Policies.defaults().overlap(Overlap.ALLOW)));
        apply(node, first, complete());
        passGates();
        assertThat(runDue(node)).containsExactlyInAnyOrder(at(20), at(30));

        store(Promise.every(TEN).policies(Policies.defaults().overlap(Overlap.QUEUE_ALL)));
        step();
        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        assertThat(past()).contains("12:00:40 skipped paused");
    }

    @ParameterizedTest
    @EnumSource(Overlap.class)
    void backfilled_runs_pass_in_the_order_of_their_instants_and_none_is_lost(Overlap overlap) {
        Attempt first = firstHeld(overlap);
        assertThat(storage().schedules().backfill(PROJECT, "report", at(-40), at(-10), true))
                .isEqualTo(4);
        RunId trigger = storage().schedules().trigger(PROJECT, "report").orElseThrow();
        List<Instant> instants = new ArrayList<>();
        passGates();
        if (overlap != Overlap.ALLOW)
            assertThat(claimBackfill()).as("the first one still runs").isEmpty();
        apply(node, first, overlap == Overlap.CANCEL_PREVIOUS ? new Transition.Cancel("newer") : complete());

        for (int round = 0; round < 6; round++) {
            passGates();
            List<Attempt> through = claimBackfill();
            if (overlap != Overlap.ALLOW) assertThat(through).hasSizeLessThan(2);
            through.forEach(attempt -> {
                instants.add(attempt.times().plannedAt());
                apply(node, attempt, complete());
            });
        }

        assertThat(instants).containsExactly(at(-40), at(-30), at(-20), at(-10));
        passGates();
        runDue(node);
        assertThat(get(trigger).state()).isEqualTo(overlap == Overlap.SKIP ? RunState.SKIPPED : RunState.SUCCEEDED);
        assertThat(past()).hasSize(5);
    }

    private List<Attempt> claimBackfill() {
        return claim(node, quota(Order.MAIL, Priority.BULK, 9));
    }

    @Test
    void triggers_wait_behind_the_ticks_before_them_and_each_runs() {
        Attempt first = firstHeld(Overlap.QUEUE_ALL);
        RunId early = storage().schedules().trigger(PROJECT, "report").orElseThrow();
        step();
        RunId late = storage().schedules().trigger(PROJECT, "report").orElseThrow();
        apply(node, first, complete());

        List<RunId> order = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            passGates();
            Attempt next = claimOne(node);
            order.add(next.run());
            apply(node, next, complete());
        }

        assertThat(order).hasSize(3).startsWith(early).endsWith(late);
        assertThat(past()).containsExactly("12:00:10 succeeded", "12:00:20 succeeded");
    }

    /** From ten seconds on the ticks exist when all stand still; from five minutes on nobody has planned them. */
    @ParameterizedTest
    @ValueSource(ints = {10, 300})
    void late_ones_with_a_spread_come_to_the_gate_one_after_the_other(int from) {
        node = node();
        store(Promise.of(When.every(TEN).from(at(from)).until(at(from + 30)))
                .policies(Policies.defaults()
                        .overlap(Overlap.QUEUE_ALL)
                        .grace(Duration.ofSeconds(15))
                        .missed(Missed.RUN_ALL)
                        .runAll(new Policies.RunAll(10, Duration.ofMinutes(1)))));
        bench().clock().at(at(from + 50));
        planAll();

        for (int late = 0; late < 4; late++) {
            passGates();
            assertThat(runDue(node)).containsExactly(at(from + 10 * late));
            advance(Duration.ofSeconds(59));
            planAll();
            passGates();
            assertThat(runDue(node)).as("before its time").isEmpty();
            advance(SECOND);
        }
        assertThat(past()).hasSize(4).allMatch(line -> line.endsWith("succeeded"));
    }
}
