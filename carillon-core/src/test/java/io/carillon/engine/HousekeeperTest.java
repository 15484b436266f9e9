package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.store.Housekeeping;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
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
        try (Housekeeper keeper = new Housekeeper(house, EngineConfig.Retention.defaults())) {
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
        try (Housekeeper keeper = new Housekeeper(house, EngineConfig.Retention.defaults())) {
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
        try (Housekeeper keeper = new Housekeeper(house, new EngineConfig.Retention(week, week.multipliedBy(2)))) {
            keeper.start();
            keeper.wake();

            for (String step : House.STEPS) house.awaitDone(step, 1);
        }
        assertThat(house.calls)
                .containsEntry("keepPartitions", "7")
                .containsEntry("dropHistory", "PT168H")
                .containsEntry("purge", "PT336H PT1H");
    }

    /** Remembers what it was asked for; one step fails for a while. */
    private static final class House implements Housekeeping {
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
