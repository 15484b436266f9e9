package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.store.Dust;
import io.carillon.store.Housekeeping;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class HousekeeperTest {
    static List<Arguments> everyStepAndKind() {
        List<Arguments> all = new ArrayList<>();
        for (String step : House.STEPS)
            for (Throwable kind : List.of(
                    new IllegalStateException("runtime"),
                    new SQLException("sql", "57P01"),
                    new OutOfMemoryError("error"),
                    new StackOverflowError())) all.add(Arguments.of(step, kind));
        return all;
    }

    @ParameterizedTest
    @MethodSource("everyStepAndKind")
    void goes_on_after_everything_a_step_throws(String step, Throwable failure) throws Exception {
        House house = new House(step, failure, 2);
        try (Housekeeper keeper = new Housekeeper(house, EngineConfig.Retention.defaults(), () -> 0)) {
            keeper.start();
            assertThat(house.calls)
                    .as("it cleans at a random time, not at once")
                    .isEmpty();
            keeper.wake();

            house.awaitDone(step, 1);
            assertThat(keeper.failures()).isEqualTo(2);
            keeper.wake();
            house.awaitDone(step, 1);
            assertThat(keeper.alive()).isTrue();
            assertThat(keeper.failures()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @MethodSource("everyStepAndKind")
    void a_step_that_always_fails_keeps_no_other_from_being_done(String step, Throwable failure) throws Exception {
        House house = new House(step, failure, Integer.MAX_VALUE);
        try (Housekeeper keeper = new Housekeeper(house, EngineConfig.Retention.defaults(), () -> 0)) {
            keeper.start();
            keeper.wake();

            for (String other : House.STEPS) if (!other.equals(step)) house.awaitDone(other, 2);
            assertThat(keeper.turns()).as("only the first sleep went well").isEqualTo(1);
        }
    }

    @Test
    void hands_over_what_the_configuration_says() throws Exception {
        House house = new House("none", new IllegalStateException(), 0);
        Duration week = Duration.ofDays(7);
        try (Housekeeper keeper =
                new Housekeeper(house, new EngineConfig.Retention(week, week.multipliedBy(2)), () -> 0)) {
            keeper.start();
            keeper.wake();

            for (String step : House.STEPS) house.awaitDone(step, 1);
        }
        assertThat(house.calls)
                .containsEntry("keepPartitions", "7")
                .containsEntry("dropHistory", "PT168H")
                .containsEntry("purge", "PT336H PT1H");
    }

    /** A table whose dead rows an old transaction may keep. */
    private static final class Table extends House {
        private long dead;
        private long living;
        private long kept;
        private int sweeps;
        private boolean locked;

        Table() {
            super("none", new IllegalStateException(), 0);
        }

        @Override
        public Dust dust() {
            return new Dust(dead, living);
        }

        @Override
        public void sweepRuns() {
            sweeps++;
            if (locked) throw new IllegalStateException("canceling statement due to statement timeout");
            dead = kept;
        }
    }

    private final AtomicLong ended = new AtomicLong();
    private final Table table = new Table();
    private final Housekeeper sweeper = new Housekeeper(table, EngineConfig.Retention.defaults(), ended::get);

    /** So many runs end, each of them leaves a dead row, and the keeper looks after it. */
    private int sweepsAfter(long runs) {
        ended.addAndGet(runs);
        table.dead += runs;
        int before = table.sweeps;
        sweeper.sweep();
        return table.sweeps - before;
    }

    @Test
    void many_ended_runs_are_swept_and_few_are_left_to_the_database() {
        assertThat(sweepsAfter(99_999)).isZero();
        assertThat(sweepsAfter(1)).isOne();
        assertThat(sweepsAfter(50_000)).isZero();
        assertThat(sweepsAfter(50_000)).isOne();
    }

    @Test
    void where_most_rows_live_a_sweep_costs_more_than_it_brings() {
        table.living = 1_000_000;
        assertThat(sweepsAfter(999_999)).isZero();
        assertThat(sweepsAfter(100_000)).isOne();
    }

    @Test
    void what_others_swept_is_not_swept_again() {
        ended.addAndGet(500_000);
        sweeper.sweep();
        assertThat(table.sweeps).isZero();
    }

    @Test
    void what_an_old_transaction_keeps_is_tried_again_when_it_has_doubled() {
        table.kept = 100_000;
        assertThat(sweepsAfter(100_000)).isOne();
        table.kept = 200_000;
        assertThat(sweepsAfter(99_999)).isZero();
        assertThat(sweepsAfter(100_000))
                .as("less than 200,000 lay there, now less than 300,000")
                .isOne();

        table.kept = 0;
        table.dead = 10;
        int sweeps = sweepsAfter(100_000) + sweepsAfter(110_000);
        assertThat(sweeps).as("somebody removed them").isOne();
        assertThat(sweepsAfter(100_000)).as("as at first").isOne();
    }

    @Test
    void a_sweep_that_takes_too_long_is_tried_again_when_there_is_twice_as_much() {
        table.locked = true;
        assertThat(sweepsAfter(150_000)).isOne();
        assertThat(sweepsAfter(100_000)).isZero();
        table.locked = false;
        assertThat(sweepsAfter(100_000)).isOne();
        assertThat(table.dead).isZero();
    }

    /** Remembers what it was asked for; one step fails for a while. */
    private static class House implements Housekeeping {
        static final List<String> STEPS = List.of("keepPartitions", "keepRoom", "dropHistory", "purge");

        private final Map<String, String> calls = new ConcurrentHashMap<>();
        private final Map<String, Semaphore> done = new ConcurrentHashMap<>();
        private final String faulty;
        private final Throwable failure;
        private int left;

        House(String faulty, Throwable failure, int times) {
            this.faulty = faulty;
            this.failure = failure;
            this.left = times;
            STEPS.forEach(step -> done.put(step, new Semaphore(0)));
        }

        @Override
        public int keepPartitions(int daysAhead) {
            return step("keepPartitions", String.valueOf(daysAhead));
        }

        @Override
        public boolean keepRoom() {
            return step("keepRoom", "") > 0;
        }

        @Override
        public Dust dust() {
            return new Dust(0, 0);
        }

        @Override
        public void sweepRuns() {
            throw new AssertionError("nothing ended here");
        }

        @Override
        public int dropHistory(Duration retention) {
            return step("dropHistory", retention.toString());
        }

        @Override
        public int purge(Duration deadRuns, Duration deadNodes) {
            return step("purge", deadRuns + " " + deadNodes);
        }

        /** Only the keeper's thread comes here. */
        private int step(String name, String words) {
            calls.put(name, words);
            if (name.equals(faulty) && left-- > 0) throw LoopTest.<RuntimeException>sneaky(failure);
            done.get(name).release();
            return 1;
        }

        void awaitDone(String step, int times) throws InterruptedException {
            assertThat(done.get(step).tryAcquire(times, 20, TimeUnit.SECONDS))
                    .as("%s after %s", step, calls)
                    .isTrue();
        }
    }
}
