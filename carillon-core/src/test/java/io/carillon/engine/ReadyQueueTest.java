package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Trials;
import io.carillon.run.Attempts;
import io.carillon.run.Lane;
import io.carillon.value.DatabaseClock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReadyQueueTest {
    private static final Lane LONG = new Lane("long", "default");
    private static final Lane SHORT = new Lane("short", "default");
    private final AtomicLong nanos = new AtomicLong();
    private final ReadyQueue queue = new ReadyQueue(10_000, true);

    @Test
    void drains_lanes_in_turn_so_that_a_long_one_delays_nobody() {
        queue.add(IntStream.range(0, 100).mapToObj(i -> held(LONG)).toList(), false);
        queue.add(List.of(held(SHORT), held(SHORT)), false);

        List<String> firstFive = IntStream.range(0, 5)
                .mapToObj(i -> queue.poll().attemptValue().lane().queue())
                .toList();

        assertThat(firstFive).containsExactly("long", "short", "long", "short", "long");
    }

    @Test
    void a_lane_of_which_nothing_waits_or_runs_may_have_its_first_turn_ahead_of_all_others() {
        for (int i = 0; i < 100; i++) queue.add(List.of(held(new Lane("lane-" + i, "default"))), false);

        queue.add(List.of(held(SHORT), held(SHORT)), true);

        assertThat(queue.poll().attemptValue().lane()).isEqualTo(SHORT);
        assertThat(queue.poll().attemptValue().lane()).isNotEqualTo(SHORT);
        queue.clear();
        queue.add(List.of(held(LONG)), false);
        queue.add(List.of(held(SHORT)), true);
        assertThat(queue.poll().attemptValue().lane())
                .as("one of the other lane runs already")
                .isEqualTo(LONG);
    }

    @Test
    void keeps_the_order_within_a_lane_and_loses_nothing() {
        Trials.of("each comes out once, in its lane's order", 500, random -> {
            ReadyQueue any = new ReadyQueue(10_000, true);
            Map<Lane, List<Held>> in = new HashMap<>();
            Map<Lane, List<Held>> out = new HashMap<>();
            for (int step = 0; step < 100; step++) {
                if (random.nextBoolean()) {
                    Held held = held(new Lane("q" + random.nextInt(5), "project-" + random.nextInt(3)));
                    in.computeIfAbsent(held.attemptValue().lane(), l -> new ArrayList<>())
                            .add(held);
                    any.add(List.of(held), false);
                } else {
                    note(out, any.poll());
                }
                assertThat(any.size()).isEqualTo(count(in) - count(out));
            }
            any.clear().forEach(held -> note(out, held));

            assertThat(out).isEqualTo(in);
            assertThat(any.size()).isZero();
            assertThat(any.poll()).isNull();
        });
    }

    @Test
    void leaves_a_tenth_of_the_slots_to_others_while_a_lane_has_long_runs() {
        ReadyQueue ten = new ReadyQueue(10, true, nanos::get);
        ten.add(held(LONG, 20), false);

        assertThat(polled(ten)).hasSize(9);
        assertThat(ten.size()).isZero();
        assertThat(ten.room(LONG)).isZero();

        assertThat(ten.room(SHORT)).isEqualTo(9);
        ten.add(held(SHORT, 2), false);
        assertThat(ten.size()).isEqualTo(2);
        assertThat(ten.poll().attemptValue().lane()).isEqualTo(SHORT);
    }

    @Test
    void leaves_no_slot_to_others_while_none_can_come() {
        ReadyQueue ten = new ReadyQueue(10, true, nanos::get);
        ten.keepForOthers(false);
        ten.add(held(LONG, 12), false);
        assertThat(polled(ten)).hasSize(12);

        ten.keepForOthers(true);
        ten.add(held(LONG, 1), false);
        assertThat(polled(ten)).isEmpty();
    }

    @Test
    void gives_the_place_of_a_run_that_ended_to_the_next_of_its_lane_and_says_so() {
        ReadyQueue ten = new ReadyQueue(10, true, nanos::get);
        List<Lane> told = new ArrayList<>();
        ten.onRoom(told::add);
        ten.add(held(LONG, 9), false);
        List<Held> running = polled(ten);
        ten.slow(LONG);

        ten.ended(running.get(0));

        assertThat(told).containsExactly(LONG);
        assertThat(ten.room(LONG)).isEqualTo(1);
        ten.add(held(LONG, 1), false);
        assertThat(polled(ten)).hasSize(1);
    }

    @Test
    void gives_all_slots_to_a_lane_whose_runs_are_short_until_one_is_not() {
        ReadyQueue ten = new ReadyQueue(10, true, nanos::get);
        ten.add(held(LONG, 30), false);
        List<Held> running = polled(ten);
        ten.ended(running.get(0));
        assertThat(ten.room(LONG)).isGreaterThan(1_000);
        assertThat(ten.size()).isEqualTo(21);
        assertThat(ten.poll()).isNotNull();
        assertThat(ten.poll()).isNotNull();

        ten.slow(LONG);

        assertThat(ten.poll()).isNull();
        nanos.addAndGet(ReadyQueue.SLOW.toNanos());
        assertThat(ten.poll()).isNotNull();
    }

    @Test
    void gives_all_slots_to_a_lane_that_is_alone_until_another_comes_and_for_a_while_after() {
        ReadyQueue ten = new ReadyQueue(10, false, nanos::get);
        assertThat(ten.room(LONG)).isGreaterThan(1_000);
        ten.add(held(LONG, 30), false);
        assertThat(IntStream.range(0, 12).mapToObj(i -> ten.poll())).doesNotContainNull();

        ten.room(SHORT);
        assertThat(ten.poll()).isNull();
        assertThat(ten.room(LONG)).isZero();

        nanos.addAndGet(ReadyQueue.ALONE.toNanos());
        assertThat(ten.poll()).isNotNull();
    }

    @Test
    void projects_take_turns_and_more_queues_get_a_project_no_more() {
        for (int i = 0; i < 20; i++) queue.add(held(new Lane("queue-" + i, "many"), 5), false);
        queue.add(held(new Lane("queue", "one"), 100), false);

        Map<String, Integer> started = new HashMap<>();
        for (int i = 0; i < 100; i++)
            started.merge(queue.poll().attemptValue().lane().project(), 1, Integer::sum);

        assertThat(started).containsEntry("many", 50).containsEntry("one", 50);
    }

    @Test
    void a_project_that_has_much_to_do_gains_nothing_by_a_new_queue() {
        queue.add(held(new Lane("a", "busy"), 10), false);
        queue.add(held(new Lane("b", "calm"), 10), false);
        assertThat(queue.poll().attemptValue().lane().project()).isEqualTo("busy");

        queue.add(held(new Lane("new", "busy"), 1), true);

        assertThat(queue.poll().attemptValue().lane().project()).isEqualTo("calm");
        assertThat(queue.poll().attemptValue().lane()).isEqualTo(new Lane("new", "busy"));
    }

    @Test
    void leaves_a_tenth_of_the_slots_to_other_projects_however_many_queues_one_has() {
        ReadyQueue ten = new ReadyQueue(10, true, nanos::get);
        Lane other = new Lane("queue", "other");
        ten.room(other);
        for (int i = 0; i < 5; i++) ten.add(held(new Lane("queue-" + i, "many"), 4), false);

        assertThat(polled(ten)).hasSize(9);
        assertThat(ten.size()).isZero();
        assertThat(ten.room(new Lane("queue-9", "many"))).isZero();
        assertThat(ten.room(other)).isEqualTo(9);
        ten.add(held(other, 1), false);
        assertThat(ten.poll().attemptValue().lane()).isEqualTo(other);

        nanos.addAndGet(ReadyQueue.ALONE.toNanos());
        assertThat(ten.poll()).as("alone for a while").isNotNull();
    }

    @Test
    void one_slot_is_nobodys_share() {
        ReadyQueue one = new ReadyQueue(1, true, nanos::get);
        one.add(held(LONG, 2), false);

        assertThat(one.poll()).isNotNull();
        assertThat(one.poll()).isNull();
    }

    @Test
    void what_waits_for_a_transaction_keeps_no_slot_from_others() {
        ReadyQueue ten = new ReadyQueue(10, true);
        ten.transactional(held -> held.attemptValue().lane().equals(LONG), 2);

        List<Held> tooMany = ten.add(held(LONG, 7), false);
        ten.add(held(SHORT, 3), false);
        List<Held> started = polled(ten);

        assertThat(tooMany).as("more than can soon start").hasSize(3);
        assertThat(started).hasSize(5);
        assertThat(started.stream().filter(Held::transactional)).hasSize(2);
        assertThat(ten.size()).as("of those that wait none may start").isZero();
        assertThat(ten.room(LONG)).isZero();
        assertThat(ten.room(SHORT)).isPositive();
        ten.ended(started.stream().filter(Held::transactional).findFirst().orElseThrow());
        assertThat(ten.size()).isEqualTo(1);
        assertThat(ten.room(LONG)).isEqualTo(1);
        assertThat(polled(ten)).hasSize(1).allMatch(Held::transactional);
    }

    @Test
    void a_lane_has_no_room_while_the_transactions_of_another_leave_none() {
        ReadyQueue ten = new ReadyQueue(10, true, nanos::get);
        ten.transactional(held -> true, 2);
        ten.add(held(LONG, 4), false);
        List<Held> started = polled(ten);

        assertThat(ten.add(held(SHORT, 1), false)).hasSize(1);
        assertThat(ten.room(SHORT)).isZero();
        nanos.addAndGet(ReadyQueue.PAUSE.toNanos());
        assertThat(ten.room(SHORT)).isZero();
        started.forEach(ten::ended);
        assertThat(ten.room(SHORT)).isEqualTo(2);
    }

    @Test
    void a_lane_of_mixed_handlers_pauses_when_a_transaction_has_no_room() {
        ReadyQueue ten = new ReadyQueue(10, true, nanos::get);
        AtomicBoolean joins = new AtomicBoolean(true);
        ten.transactional(held -> joins.get(), 1);
        ten.add(held(LONG, 2), false);
        assertThat(ten.add(held(SHORT, 1), false)).hasSize(1);
        joins.set(false);
        ten.add(held(SHORT, 1), false);

        assertThat(ten.room(SHORT)).isZero();
        nanos.addAndGet(ReadyQueue.PAUSE.toNanos());
        assertThat(ten.room(SHORT)).isPositive();
    }

    private static List<Held> polled(ReadyQueue from) {
        List<Held> all = new ArrayList<>();
        for (Held next = from.poll(); next != null; next = from.poll()) all.add(next);
        return all;
    }

    private static List<Held> held(Lane lane, int count) {
        return IntStream.range(0, count).mapToObj(i -> held(lane)).toList();
    }

    private static void note(Map<Lane, List<Held>> out, Held held) {
        if (held != null)
            out.computeIfAbsent(held.attemptValue().lane(), l -> new ArrayList<>())
                    .add(held);
    }

    private static int count(Map<Lane, List<Held>> lanes) {
        return lanes.values().stream().mapToInt(List::size).sum();
    }

    private static Held held(Lane lane) {
        return new Held(UUID.randomUUID(), Attempts.in(lane), new DatabaseClock());
    }
}
