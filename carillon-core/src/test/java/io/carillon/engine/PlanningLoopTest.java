package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.schedule.Schedule;
import io.carillon.schedule.TickPlan;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.PlanStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The order of a round, and what a failing one does. */
class PlanningLoopTest {
    /** Writes down what it is asked for; one of its answers may be a failure. */
    private static final class Asked implements PlanStore {
        private final List<String> calls = new ArrayList<>();
        private final CountDownLatch steppedDown = new CountDownLatch(1);
        private final String fails;

        Asked(String fails) {
            this.fails = fails;
        }

        private <T> T asked(String call, T answer) {
            synchronized (calls) {
                calls.add(call);
            }
            if (call.equals(fails)) throw new IllegalStateException(call + " fails");
            return answer;
        }

        @Override
        public boolean lead(UUID node, Duration lease) {
            return asked("lead", true);
        }

        @Override
        public void stepDown(UUID node) {
            asked("stepDown", true);
            steppedDown.countDown();
        }

        @Override
        public boolean anything(Reach reach) {
            return asked("anything", true);
        }

        @Override
        public List<Schedule> turnPauses(Reach reach) {
            return asked("turnPauses", List.of());
        }

        @Override
        public int followZones() {
            return asked("followZones", 0);
        }

        @Override
        public int followBacklogs() {
            return asked("followBacklogs", 0);
        }

        @Override
        public Map<String, String> unreadable() {
            return Map.of();
        }

        @Override
        public DueSchedules due(Reach reach, int limit) {
            return asked("due", DueSchedules.NONE);
        }

        @Override
        public List<TickPlan> write(List<TickPlan> plans) {
            return asked("write", plans);
        }
    }

    private static PlanningLoop loop(PlanStore plans) {
        return new PlanningLoop(
                plans, TickPlanner.defaults(), (lane, at) -> {}, () -> Duration.ofSeconds(10), event -> {});
    }

    @Test
    void what_fails_beside_planning_stops_nothing_else() {
        for (String broken : List.of("turnPauses", "followBacklogs")) {
            Asked asked = new Asked(broken);

            assertThatThrownBy(() -> loop(asked).plan()).hasMessage(broken + " fails");

            assertThat(asked.calls).containsExactly("anything", "turnPauses", "due", "followBacklogs", "followZones");
        }
    }

    @Test
    void a_leader_whose_rounds_fail_leaves_the_token_to_others() throws InterruptedException {
        Asked asked = new Asked("due");
        try (PlanningLoop loop = loop(asked)) {
            loop.onlyAsLeader(() -> new UUID(1, 1));
            loop.start();

            assertThat(asked.steppedDown.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(loop.leading()).isFalse();
        }

        synchronized (asked.calls) {
            assertThat(asked.calls.subList(0, 7))
                    .containsExactly(
                            "lead", "anything", "turnPauses", "due", "followBacklogs", "followZones", "stepDown");
            assertThat(asked.calls.stream().filter("lead"::equals))
                    .as("it does not bid again at once")
                    .hasSize(1);
        }
    }
}
