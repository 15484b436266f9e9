package io.carillon.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.schedule.PlanStore;
import io.carillon.schedule.Schedule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the order of a planning round and the effect of failures. */
class PlanningLoopTest {
    /** A store that records its calls, one of which may fail. */
    private static final class RecordingPlanStore implements PlanStore {
        private final List<String> calls = new ArrayList<>();
        private final CountDownLatch leadershipReleased = new CountDownLatch(1);
        private final String failingCall;

        RecordingPlanStore(String failingCall) {
            this.failingCall = failingCall;
        }

        private <T> T recordCall(String call, T answer) {
            synchronized (calls) {
                calls.add(call);
            }
            if (call.equals(failingCall)) throw new IllegalStateException(call + " fails");
            return answer;
        }

        @Override
        public boolean acquireLeadership(UUID node, Duration lease) {
            return recordCall("acquireLeadership", true);
        }

        @Override
        public void releaseLeadership(UUID node) {
            recordCall("releaseLeadership", true);
            leadershipReleased.countDown();
        }

        @Override
        public boolean hasWork(PlanningWindow planningWindow) {
            return recordCall("hasWork", true);
        }

        @Override
        public List<Schedule> updatePauses(PlanningWindow planningWindow) {
            return recordCall("updatePauses", List.of());
        }

        @Override
        public int replanChangedZones() {
            return recordCall("replanChangedZones", 0);
        }

        @Override
        public int adaptIntervals() {
            return recordCall("adaptIntervals", 0);
        }

        @Override
        public Map<String, String> unreadable() {
            return Map.of();
        }

        @Override
        public DueSchedules due(PlanningWindow planningWindow, int limit) {
            return recordCall("due", DueSchedules.NONE);
        }

        @Override
        public List<TickPlan> write(List<TickPlan> plans) {
            return recordCall("write", plans);
        }
    }

    private static PlanningLoop loop(PlanStore plans) {
        return new PlanningLoop(
                plans, TickPlanner.defaults(), (lane, at) -> {}, () -> Duration.ofSeconds(10), event -> {});
    }

    @Test
    void a_failing_part_of_a_round_stops_no_other_part() {
        for (String broken : List.of("updatePauses", "adaptIntervals")) {
            RecordingPlanStore store = new RecordingPlanStore(broken);

            assertThatThrownBy(() -> loop(store).plan()).hasMessage(broken + " fails");

            assertThat(store.calls)
                    .containsExactly("hasWork", "updatePauses", "due", "adaptIntervals", "replanChangedZones");
        }
    }

    @Test
    void a_leader_whose_rounds_fail_leaves_the_token_to_others() throws InterruptedException {
        RecordingPlanStore store = new RecordingPlanStore("due");
        try (PlanningLoop loop = loop(store)) {
            loop.planOnlyAsLeader(() -> new UUID(1, 1));
            loop.start();

            assertThat(store.leadershipReleased.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(loop.isLeading()).isFalse();
        }

        synchronized (store.calls) {
            assertThat(store.calls.subList(0, 7))
                    .containsExactly(
                            "acquireLeadership",
                            "hasWork",
                            "updatePauses",
                            "due",
                            "adaptIntervals",
                            "replanChangedZones",
                            "releaseLeadership");
            assertThat(store.calls.stream().filter("acquireLeadership"::equals))
                    .as("it does not try to acquire the token again immediately")
                    .hasSize(1);
        }
    }
}
