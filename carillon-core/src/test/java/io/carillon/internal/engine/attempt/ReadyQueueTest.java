package io.carillon.internal.engine.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.RandomTrials;
import io.carillon.internal.run.Lane;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.run.TestAttempts;
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
    void drains_lanes_in_turn_so_that_a_long_one_delays_no_other() {
        queue.add(IntStream.range(0, 100).mapToObj(i -> held(LONG)).toList(), false);
        queue.add(List.of(held(SHORT), held(SHORT)), false);

        List<String> firstFive = IntStream.range(0, 5)
                .mapToObj(i -> queue.poll().attemptValue().lane().queue())
                .toList();

        assertThat(firstFive).containsExactly("long", "short", "long", "short", "long");
    }

    @Test
    void a_lane_without_waiting_or_running_attempts_may_get_its_first_turn_before_all_others() {
        for (int i = 0; i < 100; i++) queue.add(List.of(held(new Lane("lane-" + i, "default"))), false);

        queue.add(List.of(held(SHORT), held(SHORT)), true);

        assertThat(queue.poll().attemptValue().lane()).isEqualTo(SHORT);
        assertThat(queue.poll().attemptValue().lane()).isNotEqualTo(SHORT);
        queue.clear();
        queue.add(List.of(held(LONG)), false);
        queue.add(List.of(held(SHORT)), true);
        assertThat(queue.poll().attemptValue().lane())
                .as("an attempt of the other lane is running")
                .isEqualTo(LONG);
    }

    @Test
    void keeps_the_order_within_a_lane_and_loses_nothing() {
        RandomTrials.run("each attempt is polled once, in the order of its lane", 500, random -> {
            ReadyQueue any = new ReadyQueue(10_000, true);
            Map<Lane, List<ActiveAttempt>> in = new HashMap<>();
            Map<Lane, List<ActiveAttempt>> out = new HashMap<>();
            for (int step = 0; step < 100; step++) {
                if (random.nextBoolean()) {
                    ActiveAttempt activeAttempt =
                            held(new Lane("q" + random.nextInt(5), "project-" + random.nextInt(3)));
                    in.computeIfAbsent(activeAttempt.attemptValue().lane(), l -> new ArrayList<>())
                            .add(activeAttempt);
                    any.add(List.of(activeAttempt), false);
                } else {
                    addToLane(out, any.poll());
                }
                assertThat(any.size()).isEqualTo(count(in) - count(out));
            }
            any.clear().forEach(activeAttempt -> addToLane(out, activeAttempt));

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
        assertThat(ten.capacity(LONG)).isZero();

        assertThat(ten.capacity(SHORT)).isEqualTo(9);
        ten.add(held(SHORT, 2), false);
        assertThat(ten.size()).isEqualTo(2);
        assertThat(ten.poll().attemptValue().lane()).isEqualTo(SHORT);
    }

    @Test
    void reserves_no_slots_while_nothing_else_may_be_claimed() {
        ReadyQueue ten = new ReadyQueue(10, true, nanos::get);
        ten.reserveSlotsForOthers(false);
        ten.add(held(LONG, 12), false);
        assertThat(polled(ten)).hasSize(12);

        ten.reserveSlotsForOthers(true);
        ten.add(held(LONG, 1), false);
        assertThat(polled(ten)).isEmpty();
    }

    @Test
    void the_end_of_a_run_gives_its_lane_capacity_and_reports_it() {
        ReadyQueue ten = new ReadyQueue(10, true, nanos::get);
        List<Lane> notified = new ArrayList<>();
        ten.onCapacity(notified::add);
        ten.add(held(LONG, 9), false);
        List<ActiveAttempt> running = polled(ten);
        ten.recordSlowRun(LONG);

        ten.releaseSlot(running.get(0));

        assertThat(notified).containsExactly(LONG);
        assertThat(ten.capacity(LONG)).isEqualTo(1);
        ten.add(held(LONG, 1), false);
        assertThat(polled(ten)).hasSize(1);
    }

    @Test
    void gives_all_slots_to_a_lane_whose_runs_are_short_until_one_is_not() {
        ReadyQueue ten = new ReadyQueue(10, true, nanos::get);
        ten.add(held(LONG, 30), false);
        List<ActiveAttempt> running = polled(ten);
        ten.releaseSlot(running.get(0));
        assertThat(ten.capacity(LONG)).isGreaterThan(1_000);
        assertThat(ten.size()).isEqualTo(21);
        assertThat(ten.poll()).isNotNull();
        assertThat(ten.poll()).isNotNull();

        ten.recordSlowRun(LONG);

        assertThat(ten.poll()).isNull();
        nanos.addAndGet(ReadyQueue.SHORT_RUN_LIMIT.toNanos());
        assertThat(ten.poll()).isNotNull();
    }

    @Test
    void gives_all_slots_to_a_lane_that_is_alone_until_another_comes_and_for_a_while_after() {
        ReadyQueue ten = new ReadyQueue(10, false, nanos::get);
        assertThat(ten.capacity(LONG)).isGreaterThan(1_000);
        ten.add(held(LONG, 30), false);
        assertThat(IntStream.range(0, 12).mapToObj(i -> ten.poll())).doesNotContainNull();

        ten.capacity(SHORT);
        assertThat(ten.poll()).isNull();
        assertThat(ten.capacity(LONG)).isZero();

        nanos.addAndGet(ReadyQueue.ALONE_AFTER.toNanos());
        assertThat(ten.poll()).isNotNull();
    }

    @Test
    void projects_take_turns_however_many_queues_each_has() {
        for (int i = 0; i < 20; i++) queue.add(held(new Lane("queue-" + i, "many"), 5), false);
        queue.add(held(new Lane("queue", "one"), 100), false);

        Map<String, Integer> started = new HashMap<>();
        for (int i = 0; i < 100; i++)
            started.merge(queue.poll().attemptValue().lane().project(), 1, Integer::sum);

        assertThat(started).containsEntry("many", 50).containsEntry("one", 50);
    }

    @Test
    void a_busy_project_gets_no_earlier_turn_by_a_new_queue() {
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
        ten.capacity(other);
        for (int i = 0; i < 5; i++) ten.add(held(new Lane("queue-" + i, "many"), 4), false);

        assertThat(polled(ten)).hasSize(9);
        assertThat(ten.size()).isZero();
        assertThat(ten.capacity(new Lane("queue-9", "many"))).isZero();
        assertThat(ten.capacity(other)).isEqualTo(9);
        ten.add(held(other, 1), false);
        assertThat(ten.poll().attemptValue().lane()).isEqualTo(other);

        nanos.addAndGet(ReadyQueue.ALONE_AFTER.toNanos());
        assertThat(ten.poll()).as("no other project was seen for a minute").isNotNull();
    }

    @Test
    void a_single_slot_is_never_reserved() {
        ReadyQueue one = new ReadyQueue(1, true, nanos::get);
        one.add(held(LONG, 2), false);

        assertThat(one.poll()).isNotNull();
        assertThat(one.poll()).isNull();
    }

    @Test
    void runs_that_wait_for_a_transaction_take_no_slot_from_others() {
        ReadyQueue ten = new ReadyQueue(10, true);
        ten.limitTransactional(
                activeAttempt -> activeAttempt.attemptValue().lane().equals(LONG), 2);

        List<ActiveAttempt> tooMany = ten.add(held(LONG, 7), false);
        ten.add(held(SHORT, 3), false);
        List<ActiveAttempt> started = polled(ten);

        assertThat(tooMany).as("attempts that cannot start soon").hasSize(3);
        assertThat(started).hasSize(5);
        assertThat(started.stream().filter(ActiveAttempt::isTransactional)).hasSize(2);
        assertThat(ten.size()).as("no waiting attempt may start").isZero();
        assertThat(ten.capacity(LONG)).isZero();
        assertThat(ten.capacity(SHORT)).isPositive();
        ten.releaseSlot(started.stream()
                .filter(ActiveAttempt::isTransactional)
                .findFirst()
                .orElseThrow());
        assertThat(ten.size()).isEqualTo(1);
        assertThat(ten.capacity(LONG)).isEqualTo(1);
        assertThat(polled(ten)).hasSize(1).allMatch(ActiveAttempt::isTransactional);
    }

    @Test
    void a_lane_has_no_capacity_while_another_lane_uses_all_transactions() {
        ReadyQueue ten = new ReadyQueue(10, true, nanos::get);
        ten.limitTransactional(activeAttempt -> true, 2);
        ten.add(held(LONG, 4), false);
        List<ActiveAttempt> started = polled(ten);

        assertThat(ten.add(held(SHORT, 1), false)).hasSize(1);
        assertThat(ten.capacity(SHORT)).isZero();
        nanos.addAndGet(ReadyQueue.PAUSE.toNanos());
        assertThat(ten.capacity(SHORT)).isZero();
        started.forEach(ten::releaseSlot);
        assertThat(ten.capacity(SHORT)).isEqualTo(2);
    }

    @Test
    void a_lane_of_mixed_handlers_pauses_when_no_transaction_slot_is_free() {
        ReadyQueue ten = new ReadyQueue(10, true, nanos::get);
        AtomicBoolean transactional = new AtomicBoolean(true);
        ten.limitTransactional(activeAttempt -> transactional.get(), 1);
        ten.add(held(LONG, 2), false);
        assertThat(ten.add(held(SHORT, 1), false)).hasSize(1);
        transactional.set(false);
        ten.add(held(SHORT, 1), false);

        assertThat(ten.capacity(SHORT)).isZero();
        nanos.addAndGet(ReadyQueue.PAUSE.toNanos());
        assertThat(ten.capacity(SHORT)).isPositive();
    }

    private static List<ActiveAttempt> polled(ReadyQueue from) {
        List<ActiveAttempt> all = new ArrayList<>();
        for (ActiveAttempt next = from.poll(); next != null; next = from.poll()) all.add(next);
        return all;
    }

    private static List<ActiveAttempt> held(Lane lane, int count) {
        return IntStream.range(0, count).mapToObj(i -> held(lane)).toList();
    }

    private static void addToLane(Map<Lane, List<ActiveAttempt>> out, ActiveAttempt activeAttempt) {
        if (activeAttempt != null)
            out.computeIfAbsent(activeAttempt.attemptValue().lane(), l -> new ArrayList<>())
                    .add(activeAttempt);
    }

    private static int count(Map<Lane, List<ActiveAttempt>> lanes) {
        return lanes.values().stream().mapToInt(List::size).sum();
    }

    private static ActiveAttempt held(Lane lane) {
        return new ActiveAttempt(UUID.randomUUID(), TestAttempts.in(lane), new DatabaseClock());
    }
}
