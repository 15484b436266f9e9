package io.carillon.it.planning;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.store.schedule.PlanStore;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.SchedulePolicies;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The planning window of a round: the instant from which it reads, and the schedules it does not need to plan yet. */
class PlanReachTest extends PlanningContract {
    private static final ScheduleSpec TEN_SECONDS = ScheduleSpec.every(Duration.ofSeconds(10));
    private static final ScheduleSpec HOURLY = ScheduleSpec.every(Duration.ofHours(1));

    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void a_schedule_is_planned_again_when_half_of_its_ticks_have_passed() {
        store(TEN_SECONDS);

        advance(Duration.ofSeconds(69));
        assertThat(names(Instant.MIN)).isEmpty();
        advance(Duration.ofSeconds(1));
        PlanStore.DueSchedules due = storage().plans().due(since(Instant.MIN), 500);

        assertThat(plans(due))
                .singleElement()
                .satisfies(plan -> assertThat(plan.ticks())
                        .as("one write creates all ticks up to two minutes ahead")
                        .extracting(TickPlan.Tick::plannedAt)
                        .containsExactly(at(130), at(140), at(150), at(160), at(170), at(180), at(190)));
    }

    @Test
    void a_round_skips_instants_that_an_earlier_round_planned() {
        store(TEN_SECONDS.named("old"));
        store(HOURLY.named("late"));
        advance(Duration.ofMinutes(59));
        planAll();
        advance(Duration.ofMinutes(1).plus(SchedulePolicies.defaults().grace()));
        Instant now = fixture().clock().now();

        assertThat(names(Instant.MIN)).containsExactlyInAnyOrder("old", "late");
        assertThat(names(now.minusSeconds(10)))
                .as("the tick of this schedule became late just now; the instant of the other passed minutes ago")
                .contains("late");
        assertThat(names(now.plusMillis(1))).isEmpty();
    }

    @Test
    void schedules_with_pause_after_are_read_in_each_round() {
        store(TEN_SECONDS);
        advance(Duration.ofSeconds(10));
        assertThat(storage().plans().hasWork(since(Instant.MIN)))
                .as("the schedule has all its ticks")
                .isFalse();

        store(TEN_SECONDS.named("careful").policies(SchedulePolicies.defaults().pauseAfter(3)));
        advance(Duration.ofSeconds(10));

        assertThat(storage().plans().hasWork(since(Instant.MIN)))
                .as("runs of the schedule may have failed")
                .isTrue();
    }

    private List<String> names(Instant since) {
        return storage().plans().due(since(since), 500).schedules().stream()
                .map(Schedule::name)
                .toList();
    }

    private static PlanStore.PlanningWindow since(Instant since) {
        return new PlanStore.PlanningWindow(since, PLANNER.replanThreshold(), PLANNER.lookAhead());
    }
}
