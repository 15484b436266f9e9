package io.carillon.internal.engine;

import static io.carillon.internal.store.schedule.PlanStore.ZonePosition.START;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.schedule.PlanStore;
import io.carillon.schedule.Schedule;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
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
        private final Deque<ZoneBatch> zoneBatches = new ArrayDeque<>();
        private final List<ZonePosition> zonePositions = new CopyOnWriteArrayList<>();
        private final CountDownLatch zonesDone = new CountDownLatch(1);

        RecordingPlanStore(String failingCall) {
            this.failingCall = failingCall;
        }

        /** Adds the answer of a call of {@link #replanChangedZones}. After the last one the store has no more rows. */
        RecordingPlanStore addZoneBatch(int read, int replanned, int lost) {
            zoneBatches.add(new ZoneBatch(read, replanned, lost, position(zoneBatches.size() + 1)));
            return this;
        }

        RecordingPlanStore addZoneBatches(int count, int replanned, int lost) {
            for (int i = 0; i < count; i++) addZoneBatch(PlanStore.ZONE_BATCH, replanned, lost);
            return this;
        }

        private <T> T recordCall(String call, T answer) {
            synchronized (calls) {
                calls.add(call);
            }
            if (call.equals(failingCall)) throw new IllegalStateException(call + " fails");
            return answer;
        }

        @Override
        public boolean acquireToken(UUID node, Duration lease) {
            return recordCall("acquireToken", true);
        }

        @Override
        public boolean acquireClaimToken(UUID node, Duration lease) {
            return recordCall("acquireClaimToken", true);
        }

        @Override
        public void releaseClaimToken(UUID node) {
            recordCall("releaseClaimToken", true);
        }

        @Override
        public void releaseToken(UUID node) {
            recordCall("releaseToken", true);
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
        public ZoneBatch replanChangedZones(ZonePosition after) {
            recordCall("replanChangedZones", 0);
            zonePositions.add(after);
            if (zoneBatches.isEmpty()) zonesDone.countDown();
            return zoneBatches.isEmpty() ? new ZoneBatch(0, 0, 0, after) : zoneBatches.remove();
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
                plans, TickPlanner.defaults(), () -> Duration.ofSeconds(10), event -> {}, LoopReports.NONE);
    }

    /** Returns the position after this many batches. */
    private static PlanStore.ZonePosition position(int batches) {
        return batches == 0 ? START : new PlanStore.ZonePosition("2025a", new UUID(0, batches));
    }

    private static List<PlanStore.ZonePosition> positions(int... batches) {
        return Arrays.stream(batches).mapToObj(PlanningLoopTest::position).toList();
    }

    @Test
    void batches_with_rows_that_cannot_be_replanned_are_followed_by_the_next_batch() {
        RecordingPlanStore store = new RecordingPlanStore("")
                .addZoneBatch(PlanStore.ZONE_BATCH, PlanStore.ZONE_BATCH - 1, 0)
                .addZoneBatch(PlanStore.ZONE_BATCH, PlanStore.ZONE_BATCH - 1, 1)
                .addZoneBatch(PlanStore.ZONE_BATCH, 0, 0)
                .addZoneBatch(10, 9, 0);

        loop(store).plan();

        assertThat(store.zonePositions).isEqualTo(positions(0, 1, 2, 3));
    }

    @Test
    void each_batch_for_new_zone_rules_is_followed_by_planning() {
        RecordingPlanStore store = new RecordingPlanStore("").addZoneBatches(2, 500, 0);

        loop(store).plan();

        assertThat(store.calls)
                .containsExactly(
                        "hasWork",
                        "updatePauses",
                        "due",
                        "adaptIntervals",
                        "replanChangedZones",
                        "due",
                        "replanChangedZones",
                        "due",
                        "replanChangedZones");
    }

    @Test
    void a_round_replans_five_batches_and_the_next_round_continues_after_them() {
        RecordingPlanStore store = new RecordingPlanStore("").addZoneBatches(7, 999, 0);
        PlanningLoop loop = loop(store);

        loop.plan();
        assertThat(store.zonePositions).isEqualTo(positions(0, 1, 2, 3, 4));
        assertThat(loop.hasMoreZones()).isTrue();

        loop.plan();
        assertThat(store.zonePositions).isEqualTo(positions(0, 1, 2, 3, 4, 5, 6, 7));
        assertThat(loop.hasMoreZones()).isFalse();

        loop.plan();
        assertThat(store.zonePositions)
                .as("rows that were left are tried again from the start, in the next planning")
                .isEqualTo(positions(0, 1, 2, 3, 4, 5, 6, 7, 0));
    }

    @Test
    void rounds_follow_without_a_pause_while_there_are_more_batches() throws InterruptedException {
        for (boolean leader : List.of(false, true)) {
            RecordingPlanStore store = new RecordingPlanStore("").addZoneBatches(500, 999, 0);
            PlanningLoop planning = new PlanningLoop(
                    store, TickPlanner.defaults(), () -> Duration.ofHours(1), event -> {}, LoopReports.NONE);
            try (Loop loop = planning.loop()) {
                if (leader)
                    planning.planOnlyAsLeader(() -> new UUID(1, 1), Duration.ofSeconds(3), Duration.ofSeconds(1));
                loop.start();

                assertThat(store.zonesDone.await(50, TimeUnit.SECONDS))
                        .as("a hundred rounds, leader mode %s", leader)
                        .isTrue();
            }
        }
    }

    @Test
    void a_node_leaves_batches_to_another_node_that_replans_them_first() {
        RecordingPlanStore store = new RecordingPlanStore("")
                .addZoneBatch(PlanStore.ZONE_BATCH, 0, PlanStore.ZONE_BATCH)
                .addZoneBatch(PlanStore.ZONE_BATCH, 999, 0);
        PlanningLoop loop = loop(store);

        loop.plan();
        assertThat(loop.hasMoreZones()).isFalse();
        assertThat(store.zonePositions).isEqualTo(positions(0));

        loop.plan();
        assertThat(store.zonePositions)
                .as("rows that stay locked do not stop the rows after them")
                .isEqualTo(positions(0, 1, 2));
    }

    @Test
    void a_batch_that_fails_is_read_again_in_the_next_round_only() {
        RecordingPlanStore store = new RecordingPlanStore("replanChangedZones").addZoneBatches(3, 999, 0);
        PlanningLoop loop = loop(store);

        assertThatThrownBy(loop::plan).hasMessage("replanChangedZones fails");

        assertThat(loop.hasMoreZones()).isFalse();
        assertThat(store.calls.stream().filter("replanChangedZones"::equals)).hasSize(1);
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
        PlanningLoop planning = loop(store);
        try (Loop loop = planning.loop()) {
            planning.planOnlyAsLeader(() -> new UUID(1, 1), Duration.ofSeconds(3), Duration.ofSeconds(1));
            loop.start();

            assertThat(store.leadershipReleased.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(planning.isLeading()).isFalse();
        }

        synchronized (store.calls) {
            assertThat(store.calls.subList(0, 7))
                    .containsExactly(
                            "acquireToken",
                            "hasWork",
                            "updatePauses",
                            "due",
                            "adaptIntervals",
                            "replanChangedZones",
                            "releaseToken");
            assertThat(store.calls.stream().filter("acquireToken"::equals))
                    .as("it does not try to acquire the token again immediately")
                    .hasSize(1);
        }
    }
}
