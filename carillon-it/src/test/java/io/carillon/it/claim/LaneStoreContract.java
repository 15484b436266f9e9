package io.carillon.it.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.QueueLimits;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.LaneDue;
import io.carillon.internal.store.run.LaneInfo;
import io.carillon.internal.store.run.LaneStore;
import io.carillon.internal.store.run.QueueHead;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Lanes: reading the queue head, scanning for lanes with due runs, weights, pause and resume. */
abstract class LaneStoreContract extends StoreContract {
    private static final Lane ORDERS = new Lane("orders", "default");
    private static final Lane FOREIGN = new Lane("mail", "other");

    private QueueHead readHead() {
        return storage().lanes().readQueueHead(Instant.MIN);
    }

    @Test
    void a_scan_in_parts_finds_the_same_lanes_as_a_full_scan() {
        for (int i = 0; i < 23; i++)
            enqueue(
                    RunSpec.mail()
                            .inLane(new Lane("queue-" + i % 5, "project-" + i))
                            .withHandler("handler-" + i % 3),
                    2);
        storage().lanes().pause(new Lane("queue-0", "project-0"), "ann", null);
        List<LaneDue> whole = storage().lanes().scan();
        assertThat(whole).hasSize(22);

        List<LaneDue> parts = new ArrayList<>();
        LaneDue behind = null;
        int turns = 0;
        do {
            LaneStore.ScanPart scanPart = storage().lanes().scan(behind, 4);
            parts.addAll(scanPart.found());
            behind = scanPart.next();
            turns++;
        } while (behind != null);

        assertThat(parts).isEqualTo(whole);
        assertThat(turns).isEqualTo(6);
    }

    @Test
    void the_head_shows_the_earliest_due_times_of_each_priority_of_each_lane() {
        enqueue(RunSpec.mail().after(Duration.ofMinutes(3)), 2);
        enqueue(RunSpec.mail().after(Duration.ofMinutes(2)));
        enqueue(RunSpec.mail().withPriority(Priority.BULK));
        enqueue(RunSpec.mail().inLane(FOREIGN).after(SECOND));

        QueueHead queueHead = readHead();

        assertThat(queueHead.lanes())
                .containsExactlyInAnyOrder(
                        new LaneDue(
                                RunSpec.MAIL,
                                Priority.NORMAL,
                                RunSpec.HANDLER,
                                StoreFixture.NOON.plus(Duration.ofMinutes(2))),
                        new LaneDue(
                                RunSpec.MAIL,
                                Priority.NORMAL,
                                RunSpec.HANDLER,
                                StoreFixture.NOON.plus(Duration.ofMinutes(3))),
                        new LaneDue(RunSpec.MAIL, Priority.BULK, RunSpec.HANDLER, StoreFixture.NOON),
                        new LaneDue(FOREIGN, Priority.NORMAL, RunSpec.HANDLER, StoreFixture.NOON.plus(SECOND)));
        assertThat(queueHead.now()).isEqualTo(StoreFixture.NOON);
        assertThat(queueHead.mayHideDueRuns()).isFalse();
        assertThat(queueHead.isolatedRunsWaiting()).isFalse();
        assertThat(storage().lanes().scan())
                .containsExactlyInAnyOrder(
                        new LaneDue(
                                RunSpec.MAIL,
                                Priority.NORMAL,
                                RunSpec.HANDLER,
                                StoreFixture.NOON.plus(Duration.ofMinutes(2))),
                        new LaneDue(RunSpec.MAIL, Priority.BULK, RunSpec.HANDLER, StoreFixture.NOON),
                        new LaneDue(FOREIGN, Priority.NORMAL, RunSpec.HANDLER, StoreFixture.NOON.plus(SECOND)));
    }

    @Test
    void the_head_of_an_empty_queue_has_the_database_time() {
        assertThat(readHead())
                .isEqualTo(new QueueHead(
                        List.of(),
                        StoreFixture.NOON,
                        Instant.MAX,
                        false,
                        false,
                        false,
                        Set.of(),
                        Map.of(),
                        QueueHead.Breakers.NONE));
        assertThat(storage().lanes().scan()).isEmpty();
    }

    @Test
    void neither_head_nor_scan_shows_claimed_or_parked_runs() {
        enqueue(RunSpec.mail(), 3);
        UUID node = node();
        List<Attempt> held = claim(node, 3);
        storage().runs().markLongRunning(node, held.subList(0, 1));
        storage().runs().handBack(node, held.subList(1, 2));

        assertThat(readHead().lanes()).hasSize(1);
        claim(node, 3);
        assertThat(readHead().lanes()).isEmpty();
        assertThat(storage().lanes().scan()).isEmpty();
    }

    @Test
    void a_head_read_from_a_low_water_mark_omits_earlier_runs() {
        enqueue(RunSpec.mail());
        enqueue(RunSpec.mail().inLane(ORDERS).after(SECOND));

        assertThat(storage()
                        .lanes()
                        .readQueueHead(StoreFixture.NOON.plus(SECOND))
                        .lanes())
                .extracting(LaneDue::lane)
                .containsExactly(ORDERS);
    }

    @Test
    void a_truncated_head_reports_it_and_the_scan_finds_all_lanes() {
        enqueue(RunSpec.mail(), 250);
        enqueue(RunSpec.mail().inLane(ORDERS).after(SECOND));
        fixture().clock().advance(SECOND);

        assertThat(readHead().mayHideDueRuns()).isTrue();
        assertThat(readHead().lanes()).extracting(LaneDue::lane).containsExactly(RunSpec.MAIL);
        assertThat(storage().lanes().scan()).extracting(LaneDue::lane).containsExactlyInAnyOrder(RunSpec.MAIL, ORDERS);
    }

    @Test
    void runs_that_are_not_due_hide_no_due_runs_and_only_the_earliest_of_them_are_shown() {
        enqueue(RunSpec.mail().after(SECOND), 250);
        enqueue(RunSpec.mail().inLane(ORDERS).after(Duration.ofMinutes(1)));

        assertThat(readHead().mayHideDueRuns()).isFalse();
        assertThat(readHead().seenUntil()).isEqualTo(StoreFixture.NOON.plus(SECOND));
        assertThat(readHead().lanes())
                .containsExactly(
                        new LaneDue(RunSpec.MAIL, Priority.NORMAL, RunSpec.HANDLER, StoreFixture.NOON.plus(SECOND)));
    }

    @Test
    void a_paused_lane_is_not_shown_and_may_hide_due_runs_of_others() {
        enqueue(RunSpec.mail(), 250);
        enqueue(RunSpec.mail().inLane(ORDERS));
        storage().lanes().pause(RunSpec.MAIL, "ann", "maintenance");

        assertThat(readHead().lanes()).extracting(LaneDue::lane).doesNotContain(RunSpec.MAIL);
        assertThat(readHead().mayHideDueRuns()).isTrue();
        assertThat(storage().lanes().scan()).extracting(LaneDue::lane).containsExactly(ORDERS);
    }

    @Test
    void a_head_shows_the_weights_of_lanes_and_a_weight_does_not_limit_claims() {
        enqueue(RunSpec.mail());
        storage().lanes().setWeight(RunSpec.MAIL, 3);
        storage().lanes().setWeight(ORDERS, 2);
        storage().lanes().setWeight(ORDERS, 1);

        assertThat(readHead().weights()).isEqualTo(Map.of(RunSpec.MAIL, 3));
        assertThat(readHead().limitedLanes()).isEmpty();
        assertThat(storage().lanes().list(PROJECT)).extracting(LaneInfo::weight).containsExactly(3, 1);
        assertThat(claim(node(), 1)).hasSize(1);
    }

    @Test
    void a_lane_may_have_a_weight_and_a_limit() {
        enqueue(RunSpec.mail());
        storage().lanes().setWeight(RunSpec.MAIL, 3);
        storage().lanes().limit(RunSpec.MAIL, QueueLimits.maxRunning(1));
        storage().lanes().setWeight(ORDERS, 5);

        assertThat(readHead().weights()).isEqualTo(Map.of(RunSpec.MAIL, 3, ORDERS, 5));
        assertThat(readHead().limitedLanes()).containsExactly(RunSpec.MAIL);
    }

    @Test
    void a_run_that_waits_because_of_weights_is_explained() {
        RunId waits = enqueue(RunSpec.mail());
        storage().lanes().setWeight(ORDERS, 3);
        UUID node = node();
        assertThat(explained(waits)).isEmpty();

        storage().nodes().recordHeartbeat(node, 50, List.of());

        assertThat(explained(waits))
                .containsExactly("all slots are taken, and queue 'mail' has weight 1 while others have up to 3");
    }

    @Test
    void a_run_in_a_paused_lane_is_explained_with_the_reason_if_there_is_one() {
        RunId waits = enqueue(RunSpec.mail());
        node();
        storage().lanes().pause(RunSpec.MAIL, "ann", null);
        assertThat(explained(waits))
                .containsExactly("queue 'mail' is paused since %s by ann".formatted(StoreFixture.NOON));

        storage().lanes().resume(RunSpec.MAIL);
        storage().lanes().pause(RunSpec.MAIL, "ann", "maintenance");

        assertThat(explained(waits))
                .containsExactly("queue 'mail' is paused since %s by ann (maintenance)".formatted(StoreFixture.NOON));
    }

    final List<String> explained(RunId run) {
        return storage().runAdmin().explain(PROJECT, run).orElseThrow().blockers();
    }

    @Test
    void pausing_and_resuming_return_whether_they_changed_anything() {
        assertThat(storage().lanes().resume(RunSpec.MAIL)).isFalse();
        assertThat(storage().lanes().pause(RunSpec.MAIL, "ann", "why")).isTrue();
        assertThat(storage().lanes().pause(RunSpec.MAIL, "bob", "other")).isFalse();
        assertThat(storage().lanes().list(PROJECT))
                .containsExactly(new LaneInfo(
                        RunSpec.MAIL,
                        new LaneInfo.Counts(0, 0, true, null),
                        QueueLimits.none(),
                        1,
                        null,
                        new LaneInfo.Pause(StoreFixture.NOON, "ann", "why")));
        assertThat(storage().lanes().resume(RunSpec.MAIL)).isTrue();
        assertThat(storage().lanes().resume(RunSpec.MAIL)).isFalse();
    }

    @Test
    void pausing_a_lane_leaves_the_same_queue_of_other_projects_alone() {
        enqueue(RunSpec.mail());
        enqueue(RunSpec.mail().inLane(FOREIGN));
        storage().lanes().pause(RunSpec.MAIL, "ann", null);

        assertThat(claim(node(), laneClaim(RunSpec.MAIL, Priority.NORMAL, 1), laneClaim(FOREIGN, Priority.NORMAL, 1)))
                .extracting(Attempt::lane)
                .containsExactly(FOREIGN);
    }

    @Test
    void lists_the_lanes_of_one_project_with_their_waiting_and_running_runs() {
        enqueue(RunSpec.mail(), 5);
        enqueue(RunSpec.mail().inLane(ORDERS), 2);
        enqueue(RunSpec.mail().inLane(FOREIGN), 7);
        claim(node(), 2);

        assertThat(storage().lanes().list(PROJECT))
                .containsExactly(
                        new LaneInfo(RunSpec.MAIL, counts(3, 2), QueueLimits.none(), 1, null, null),
                        new LaneInfo(ORDERS, counts(2, 0), QueueLimits.none(), 1, null, null));
    }

    private static LaneInfo.Counts counts(long waiting, long running) {
        return new LaneInfo.Counts(waiting, running, true, StoreFixture.NOON);
    }

    @Test
    void shows_since_when_the_oldest_due_run_of_a_lane_waits() {
        enqueue(RunSpec.mail());
        advance(Duration.ofMinutes(5));
        enqueue(RunSpec.mail());
        enqueue(RunSpec.mail().inLane(ORDERS).after(Duration.ofMinutes(1)));

        assertThat(storage().lanes().list(PROJECT))
                .extracting(lane -> lane.counts().waitingSince())
                .containsExactly(StoreFixture.NOON, null);
        claim(node(), laneClaim(RunSpec.MAIL, Priority.NORMAL, 1));

        assertThat(storage().lanes().find(RunSpec.MAIL).orElseThrow().counts().waitingSince())
                .isEqualTo(StoreFixture.NOON.plus(Duration.ofMinutes(5)));
    }
}
