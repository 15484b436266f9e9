package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.schedule.Policies;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.TickPlan;
import io.carillon.store.PlanStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How far a round of planning reaches: from where on it looks, and which schedules it leaves alone for now. */
class PlanReachTest extends PlanningContract {
    private static final Promise TEN_SECONDS = Promise.every(Duration.ofSeconds(10));
    private static final Promise HOURLY = Promise.every(Duration.ofHours(1));

    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    @Test
    void a_schedule_gets_ticks_again_when_half_of_its_ticks_are_over() {
        store(TEN_SECONDS);

        advance(Duration.ofSeconds(69));
        assertThat(names(Instant.MIN)).isEmpty();
        advance(Duration.ofSeconds(1));
        PlanStore.DueSchedules due = storage().plans().due(since(Instant.MIN), 500);

        assertThat(plans(due))
                .singleElement()
                .satisfies(plan -> assertThat(plan.ticks())
                        .as("one write makes all up to two minutes ahead")
                        .extracting(TickPlan.Tick::plannedAt)
                        .containsExactly(at(130), at(140), at(150), at(160), at(170), at(180), at(190)));
    }

    @Test
    void a_round_does_not_look_before_what_an_earlier_one_settled() {
        store(TEN_SECONDS.named("old"));
        store(HOURLY.named("late"));
        advance(Duration.ofMinutes(59));
        planAll();
        advance(Duration.ofMinutes(1).plus(Policies.defaults().grace()));
        Instant now = bench().clock().now();

        assertThat(names(Instant.MIN)).containsExactlyInAnyOrder("old", "late");
        assertThat(names(now.minusSeconds(10)))
                .as("the tick became late just now, the instant of the other passed minutes ago")
                .contains("late");
        assertThat(names(now.plusMillis(1))).isEmpty();
    }

    @Test
    void who_may_pause_by_himself_is_asked_about_in_each_round() {
        store(TEN_SECONDS);
        advance(Duration.ofSeconds(10));
        assertThat(storage().plans().anything(since(Instant.MIN)))
                .as("it has all its ticks")
                .isFalse();

        store(TEN_SECONDS.named("careful").policies(Policies.defaults().pauseAfter(3)));
        advance(Duration.ofSeconds(10));

        assertThat(storage().plans().anything(since(Instant.MIN)))
                .as("its runs may have failed")
                .isTrue();
    }

    private List<String> names(Instant since) {
        return storage().plans().due(since(since), 500).schedules().stream()
                .map(Schedule::name)
                .toList();
    }

    private static PlanStore.Reach since(Instant since) {
        return new PlanStore.Reach(since, PLANNER.renewAhead(), PLANNER.lookAhead());
    }
}
