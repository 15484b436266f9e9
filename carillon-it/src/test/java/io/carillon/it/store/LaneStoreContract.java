package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import io.carillon.run.Limits;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.store.LaneDue;
import io.carillon.store.LaneInfo;
import io.carillon.store.LaneStore;
import io.carillon.store.Look;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Finding lanes with work, and stopping them. */
abstract class LaneStoreContract extends StoreContract {
    private static final Lane ORDERS = new Lane("orders", "default");
    private static final Lane FOREIGN = new Lane("mail", "other");

    private Look look() {
        return storage().lanes().look(Instant.MIN);
    }

    @Test
    void a_scan_in_parts_finds_what_a_whole_one_finds() {
        for (int i = 0; i < 23; i++)
            enqueue(Order.mail().in(new Lane("queue-" + i % 5, "project-" + i)).to("handler-" + i % 3), 2);
        storage().lanes().pause(new Lane("queue-0", "project-0"), "ann", null);
        List<LaneDue> whole = storage().lanes().scan();
        assertThat(whole).hasSize(22);

        List<LaneDue> parts = new ArrayList<>();
        LaneDue behind = null;
        int turns = 0;
        do {
            LaneStore.Part part = storage().lanes().scan(behind, 4);
            parts.addAll(part.found());
            behind = part.next();
            turns++;
        } while (behind != null);

        assertThat(parts).isEqualTo(whole);
        assertThat(turns).isEqualTo(6);
    }

    @Test
    void a_look_shows_each_class_of_each_lane_with_its_earliest_run_and_what_comes_next() {
        enqueue(Order.mail().after(Duration.ofMinutes(3)), 2);
        enqueue(Order.mail().after(Duration.ofMinutes(2)));
        enqueue(Order.mail().of(Priority.BULK));
        enqueue(Order.mail().in(FOREIGN).after(SECOND));

        Look look = look();

        assertThat(look.lanes())
                .containsExactlyInAnyOrder(
                        new LaneDue(
                                Order.MAIL,
                                Priority.NORMAL,
                                Order.HANDLER,
                                StoreBench.NOON.plus(Duration.ofMinutes(2))),
                        new LaneDue(
                                Order.MAIL,
                                Priority.NORMAL,
                                Order.HANDLER,
                                StoreBench.NOON.plus(Duration.ofMinutes(3))),
                        new LaneDue(Order.MAIL, Priority.BULK, Order.HANDLER, StoreBench.NOON),
                        new LaneDue(FOREIGN, Priority.NORMAL, Order.HANDLER, StoreBench.NOON.plus(SECOND)));
        assertThat(look.now()).isEqualTo(StoreBench.NOON);
        assertThat(look.full()).isFalse();
        assertThat(look.suspects()).isFalse();
        assertThat(storage().lanes().scan())
                .containsExactlyInAnyOrder(
                        new LaneDue(
                                Order.MAIL,
                                Priority.NORMAL,
                                Order.HANDLER,
                                StoreBench.NOON.plus(Duration.ofMinutes(2))),
                        new LaneDue(Order.MAIL, Priority.BULK, Order.HANDLER, StoreBench.NOON),
                        new LaneDue(FOREIGN, Priority.NORMAL, Order.HANDLER, StoreBench.NOON.plus(SECOND)));
    }

    @Test
    void a_look_at_nothing_tells_the_time() {
        assertThat(look())
                .isEqualTo(
                        new Look(List.of(), StoreBench.NOON, Instant.MAX, false, false, Set.of(), Set.of(), Map.of()));
        assertThat(storage().lanes().scan()).isEmpty();
    }

    @Test
    void neither_look_nor_scan_shows_what_is_held_or_parked() {
        enqueue(Order.mail(), 3);
        UUID node = node();
        List<Attempt> held = claim(node, 3);
        storage().runs().parkRunning(node, held.subList(0, 1));
        storage().runs().handBack(node, held.subList(1, 2));

        assertThat(look().lanes()).hasSize(1);
        claim(node, 3);
        assertThat(look().lanes()).isEmpty();
        assertThat(storage().lanes().scan()).isEmpty();
    }

    @Test
    void a_look_from_a_low_water_mark_leaves_out_what_lies_below() {
        enqueue(Order.mail());
        enqueue(Order.mail().in(ORDERS).after(SECOND));

        assertThat(storage().lanes().look(StoreBench.NOON.plus(SECOND)).lanes())
                .extracting(LaneDue::lane)
                .containsExactly(ORDERS);
    }

    @Test
    void a_look_says_when_there_is_more_than_it_saw_and_the_scan_sees_all() {
        enqueue(Order.mail(), 250);
        enqueue(Order.mail().in(ORDERS).after(SECOND));
        bench().clock().advance(SECOND);

        assertThat(look().full()).isTrue();
        assertThat(look().lanes()).extracting(LaneDue::lane).containsExactly(Order.MAIL);
        assertThat(storage().lanes().scan()).extracting(LaneDue::lane).containsExactlyInAnyOrder(Order.MAIL, ORDERS);
    }

    @Test
    void what_is_not_due_yet_hides_nothing_and_only_the_next_of_it_are_seen() {
        enqueue(Order.mail().after(SECOND), 250);
        enqueue(Order.mail().in(ORDERS).after(Duration.ofMinutes(1)));

        assertThat(look().full()).isFalse();
        assertThat(look().seenUntil()).isEqualTo(StoreBench.NOON.plus(SECOND));
        assertThat(look().lanes())
                .containsExactly(new LaneDue(Order.MAIL, Priority.NORMAL, Order.HANDLER, StoreBench.NOON.plus(SECOND)));
    }

    @Test
    void a_paused_lane_is_not_shown_as_work_and_still_counts_as_more_to_see() {
        enqueue(Order.mail(), 250);
        enqueue(Order.mail().in(ORDERS));
        storage().lanes().pause(Order.MAIL, "ann", "maintenance");

        assertThat(look().lanes()).extracting(LaneDue::lane).doesNotContain(Order.MAIL);
        assertThat(look().full()).isTrue();
        assertThat(storage().lanes().scan()).extracting(LaneDue::lane).containsExactly(ORDERS);
    }

    @Test
    void a_look_tells_which_lanes_were_weighed_and_they_are_claimed_as_before() {
        enqueue(Order.mail());
        storage().lanes().weigh(Order.MAIL, 3);
        storage().lanes().weigh(ORDERS, 2);
        storage().lanes().weigh(ORDERS, 1);

        assertThat(look().weights()).isEqualTo(Map.of(Order.MAIL, 3));
        assertThat(look().limited()).isEmpty();
        assertThat(storage().lanes().list(PROJECT)).extracting(LaneInfo::weight).containsExactly(3, 1);
        assertThat(claim(node(), 1)).hasSize(1);
    }

    @Test
    void a_lane_may_be_weighed_and_limited() {
        enqueue(Order.mail());
        storage().lanes().weigh(Order.MAIL, 3);
        storage().lanes().limit(Order.MAIL, Limits.running(1));
        storage().lanes().weigh(ORDERS, 5);

        assertThat(look().weights()).isEqualTo(Map.of(Order.MAIL, 3, ORDERS, 5));
        assertThat(look().limited()).containsExactly(Order.MAIL);
    }

    @Test
    void a_run_that_waits_because_others_weigh_more_says_so() {
        RunId waits = enqueue(Order.mail());
        storage().lanes().weigh(ORDERS, 3);
        UUID node = node();
        assertThat(explained(waits)).isEmpty();

        storage().nodes().beat(node, 50, List.of());

        assertThat(explained(waits))
                .containsExactly("all slots are taken, and queue 'mail' weighs 1 where others weigh up to 3");
    }

    private List<String> explained(RunId run) {
        return storage().runDesk().explain(PROJECT, run).orElseThrow().holds();
    }

    @Test
    void pausing_and_resuming_say_whether_they_changed_anything() {
        assertThat(storage().lanes().resume(Order.MAIL)).isFalse();
        assertThat(storage().lanes().pause(Order.MAIL, "ann", "why")).isTrue();
        assertThat(storage().lanes().pause(Order.MAIL, "bob", "other")).isFalse();
        assertThat(storage().lanes().list(PROJECT))
                .containsExactly(new LaneInfo(
                        Order.MAIL, 0, 0, Limits.none(), 1, null, new LaneInfo.Pause(StoreBench.NOON, "ann", "why")));
        assertThat(storage().lanes().resume(Order.MAIL)).isTrue();
        assertThat(storage().lanes().resume(Order.MAIL)).isFalse();
    }

    @Test
    void pausing_a_lane_leaves_the_same_queue_of_other_projects_alone() {
        enqueue(Order.mail());
        enqueue(Order.mail().in(FOREIGN));
        storage().lanes().pause(Order.MAIL, "ann", null);

        assertThat(claim(node(), quota(Order.MAIL, Priority.NORMAL, 1), quota(FOREIGN, Priority.NORMAL, 1)))
                .extracting(Attempt::lane)
                .containsExactly(FOREIGN);
    }

    @Test
    void lists_the_lanes_of_one_project_with_what_waits_and_runs() {
        enqueue(Order.mail(), 5);
        enqueue(Order.mail().in(ORDERS), 2);
        enqueue(Order.mail().in(FOREIGN), 7);
        claim(node(), 2);

        assertThat(storage().lanes().list(PROJECT))
                .containsExactly(
                        new LaneInfo(Order.MAIL, 3, 2, Limits.none(), 1, null, null),
                        new LaneInfo(ORDERS, 2, 0, Limits.none(), 1, null, null));
    }
}
