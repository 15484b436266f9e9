package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.node.HeartbeatResult;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Overlap policies: instants that become due while an earlier run of their schedule has not ended. The schedule fires
 * every ten seconds from noon.
 */
abstract class OverlapContract extends PlanningContract {
    private static final Duration TEN = Duration.ofSeconds(10);

    private UUID node;

    /** Stores the schedule and claims the first tick. */
    private Attempt claimFirst(OverlapPolicy overlapPolicy) {
        return claimFirst(SchedulePolicies.defaults().overlap(overlapPolicy));
    }

    private Attempt claimFirst(SchedulePolicies schedulePolicies) {
        node = node();
        store(ScheduleSpec.every(TEN).policies(schedulePolicies));
        step();
        return claimOne(node);
    }

    /** Advances ten seconds, plans, and promotes gates as a node does. */
    private void step() {
        advance(TEN);
        planAll();
        passGates();
    }

    private List<String> pastLedgerLines() {
        Instant now = fixture().clock().now();
        return lines("report").stream()
                .filter(line -> line.substring(0, 8).compareTo(now.toString().substring(11, 19)) <= 0)
                .toList();
    }

    @Test
    void allow_lets_both_run() {
        claimFirst(OverlapPolicy.ALLOW);
        step();

        assertThat(claim(node, 9)).hasSize(1);
    }

    @Test
    void skip_drops_new_ticks_until_the_earlier_run_has_ended() {
        Attempt first = claimFirst(OverlapPolicy.SKIP);
        step();
        step();
        assertThat(claim(node, 9)).isEmpty();
        apply(node, first, new Transition.Retry(TEN.multipliedBy(2), "not now", false));
        step();
        assertThat(claim(node, 9))
                .as("the earlier run waits for its next attempt")
                .isEmpty();
        step();
        apply(node, claimOne(node), complete());
        step();

        assertThat(runDue(node)).containsExactly(at(60));
        assertThat(pastLedgerLines())
                .containsExactly(
                        "12:00:10 succeeded",
                        "12:00:20 skipped overlap: an earlier run had not ended",
                        "12:00:30 skipped overlap: an earlier run had not ended",
                        "12:00:40 skipped overlap: an earlier run had not ended",
                        "12:00:50 skipped overlap: an earlier run had not ended",
                        "12:01:00 succeeded");
    }

    @Test
    void queue_one_keeps_the_newest_tick_waiting() {
        Attempt first = claimFirst(OverlapPolicy.QUEUE_ONE);
        step();
        step();
        assertThat(claim(node, 9)).isEmpty();
        apply(node, first, complete());
        passGates();

        assertThat(runDue(node)).containsExactly(at(30));
        assertThat(pastLedgerLines())
                .containsExactly(
                        "12:00:10 succeeded",
                        "12:00:20 skipped overlap: a newer run waits instead",
                        "12:00:30 succeeded");
    }

    @Test
    void queue_all_executes_ticks_one_after_the_other_and_counts_none_as_missed() {
        Attempt first = claimFirst(SchedulePolicies.defaults()
                .overlap(OverlapPolicy.QUEUE_ALL)
                .missed(MissedPolicy.SKIP)
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
        assertThat(pastLedgerLines()).noneMatch(line -> line.contains("missed"));
    }

    @Test
    void a_promoted_tick_that_no_node_starts_is_missed_after_its_grace() {
        Attempt first = claimFirst(SchedulePolicies.defaults()
                .overlap(OverlapPolicy.QUEUE_ALL)
                .missed(MissedPolicy.SKIP)
                .grace(Duration.ofSeconds(15)));
        step();
        step();
        apply(node, first, complete());
        passGates();
        advance(Duration.ofSeconds(16));
        planAll();
        passGates();

        assertThat(pastLedgerLines()).contains("12:00:20 missed missed instants are skipped");
        assertThat(runDue(node)).containsExactly(at(30));
    }

    @Test
    void cancel_previous_cancels_the_earlier_run_and_starts_when_it_has_ended() {
        Attempt first = claimFirst(OverlapPolicy.CANCEL_PREVIOUS);
        step();
        assertThat(claim(node, 9)).as("the earlier run has not ended").isEmpty();
        List<HeartbeatResult.CancelRequest> orders =
                storage().nodes().recordHeartbeat(node, 1, List.of()).cancelRequests();
        assertThat(orders).extracting(HeartbeatResult.CancelRequest::run).containsExactly(first.run());
        step();
        apply(node, first, new Transition.Cancel(orders.get(0).reason()));
        passGates();

        assertThat(runDue(node)).containsExactly(at(30));
        assertThat(pastLedgerLines())
                .containsExactly(
                        "12:00:10 cancelled overlap: a newer run took its place",
                        "12:00:20 skipped overlap: a newer run waits instead",
                        "12:00:30 succeeded");
    }

    @Test
    void cancel_previous_immediately_ends_a_run_that_waits_for_its_next_attempt() {
        Attempt first = claimFirst(OverlapPolicy.CANCEL_PREVIOUS);
        apply(node, first, new Transition.Retry(Duration.ofHours(1), "not now", false));
        step();
        passGates();

        assertThat(runDue(node)).containsExactly(at(20));
        assertThat(get(first.run()).state()).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void a_triggered_run_respects_the_policy_and_counts_as_running() {
        Attempt first = claimFirst(OverlapPolicy.SKIP);
        RunId skipped = storage().schedules().trigger(PROJECT, "report").orElseThrow();
        passGates();
        assertThat(get(skipped).state()).isEqualTo(RunState.SKIPPED);

        apply(node, first, complete());
        RunId started = storage().schedules().trigger(PROJECT, "report").orElseThrow();
        passGates();
        assertThat(claimOne(node).run()).isEqualTo(started);
        step();
        assertThat(pastLedgerLines()).contains("12:00:20 skipped overlap: an earlier run had not ended");
    }

    @Test
    void the_schedule_continues_after_the_run_of_a_dead_node_was_rescued() {
        Attempt first = claimFirst(OverlapPolicy.QUEUE_ONE);
        storage().nodes().declareDead(node, 0, "test");
        storage().nodes().rescue(3);
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
    void ticks_not_promoted_in_time_are_subject_to_the_missed_policy() {
        node = node();
        store(ScheduleSpec.every(TEN)
                .policies(
                        SchedulePolicies.defaults().overlap(OverlapPolicy.SKIP).grace(Duration.ofSeconds(15))));
        advance(Duration.ofMinutes(1));
        planAll();
        passGates();

        assertThat(runDue(node)).hasSize(1);
        assertThat(pastLedgerLines())
                .filteredOn(line -> line.contains("missed"))
                .isNotEmpty();
        assertThat(pastLedgerLines()).hasSize(6);
    }

    @Test
    void a_pause_ends_waiting_ticks_and_an_edit_to_allow_lets_them_run() {
        Attempt first = claimFirst(OverlapPolicy.QUEUE_ALL);
        step();
        step();
        store(ScheduleSpec.every(TEN).policies(SchedulePolicies.defaults().overlap(OverlapPolicy.ALLOW)));
        apply(node, first, complete());
        passGates();
        assertThat(runDue(node)).containsExactlyInAnyOrder(at(20), at(30));

        store(ScheduleSpec.every(TEN).policies(SchedulePolicies.defaults().overlap(OverlapPolicy.QUEUE_ALL)));
        step();
        storage().schedules().pause(PROJECT, "report", new Schedule.Pause(Instant.EPOCH, "ann", null, null));
        assertThat(pastLedgerLines()).contains("12:00:40 skipped paused");
    }

    @ParameterizedTest
    @EnumSource(OverlapPolicy.class)
    void backfilled_runs_are_promoted_in_the_order_of_their_instants_and_none_is_lost(OverlapPolicy overlapPolicy) {
        Attempt first = claimFirst(overlapPolicy);
        assertThat(storage().schedules().backfill(PROJECT, "report", at(-40), at(-10), true))
                .isEqualTo(4);
        RunId trigger = storage().schedules().trigger(PROJECT, "report").orElseThrow();
        List<Instant> instants = new ArrayList<>();
        passGates();
        if (overlapPolicy != OverlapPolicy.ALLOW)
            assertThat(claimBackfill()).as("the first run has not ended").isEmpty();
        apply(
                node,
                first,
                overlapPolicy == OverlapPolicy.CANCEL_PREVIOUS ? new Transition.Cancel("newer") : complete());

        for (int round = 0; round < 6; round++) {
            passGates();
            List<Attempt> through = claimBackfill();
            if (overlapPolicy != OverlapPolicy.ALLOW) assertThat(through).hasSizeLessThan(2);
            through.forEach(attempt -> {
                instants.add(attempt.times().plannedAt());
                apply(node, attempt, complete());
            });
        }

        assertThat(instants).containsExactly(at(-40), at(-30), at(-20), at(-10));
        passGates();
        runDue(node);
        assertThat(get(trigger).state())
                .isEqualTo(overlapPolicy == OverlapPolicy.SKIP ? RunState.SKIPPED : RunState.SUCCEEDED);
        assertThat(pastLedgerLines()).hasSize(5);
    }

    private List<Attempt> claimBackfill() {
        return claim(node, laneClaim(RunSpec.MAIL, Priority.BULK, 9));
    }

    @Test
    void triggered_runs_wait_behind_earlier_ticks_and_each_runs() {
        Attempt first = claimFirst(OverlapPolicy.QUEUE_ALL);
        RunId early = storage().schedules().trigger(PROJECT, "report").orElseThrow();
        step();
        // At the very instant of the tick it would have the same position.
        advance(Duration.ofMillis(1));
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
        assertThat(pastLedgerLines()).containsExactly("12:00:10 succeeded", "12:00:20 succeeded");
    }

    /** With 10 the ticks exist before the outage; with 300 no node has planned them. */
    @ParameterizedTest
    @ValueSource(ints = {10, 300})
    void spread_late_ticks_arrive_at_the_gate_one_after_the_other(int from) {
        node = node();
        store(ScheduleSpec.of(When.every(TEN).from(at(from)).until(at(from + 30)))
                .policies(SchedulePolicies.defaults()
                        .overlap(OverlapPolicy.QUEUE_ALL)
                        .grace(Duration.ofSeconds(15))
                        .missed(MissedPolicy.RUN_ALL)
                        .runAll(new SchedulePolicies.RunAllLimits(10, Duration.ofMinutes(1)))));
        fixture().clock().stopAt(at(from + 50));
        planAll();

        for (int late = 0; late < 4; late++) {
            passGates();
            assertThat(runDue(node)).containsExactly(at(from + 10 * late));
            advance(Duration.ofSeconds(59));
            planAll();
            passGates();
            assertThat(runDue(node)).as("before its due time").isEmpty();
            advance(SECOND);
        }
        assertThat(pastLedgerLines()).hasSize(4).allMatch(line -> line.endsWith("succeeded"));
    }
}
