package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.schedule.ScheduleListener;
import io.carillon.store.GateName;
import io.carillon.store.GateStore;
import io.carillon.value.DatabaseClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GatekeeperTest {
    private static final GateName SHOP = new GateName("default", "overlap:shop");
    private static final GateName OTHER = new GateName("default", "overlap:other");

    /** All gates are busy; writes down when which were asked for. */
    private static final class Busy implements GateStore {
        record Asked(long at, List<GateName> gates) {}

        final List<Asked> asked = new ArrayList<>();

        @Override
        public Passed pass(Collection<GateName> gates) {
            asked.add(new Asked(System.nanoTime(), List.copyOf(gates)));
            return new Passed(List.of(), List.copyOf(gates), List.of(), Map.of());
        }

        @Override
        public Arrivals arrive(int limit) {
            return new Arrivals(List.of(), Instant.EPOCH, Instant.MAX);
        }

        @Override
        public Opened open(@Nullable GateName after, int limit) {
            return new Opened(List.of(), null);
        }
    }

    private final Busy gates = new Busy();
    private final Gatekeeper gatekeeper =
            new Gatekeeper(gates, new DatabaseClock(), new Crowd(), lane -> {}, ScheduleListener.NONE);

    private void turnUntilAsked(int times) throws InterruptedException {
        while (gates.asked.size() < times) gatekeeper.turn();
    }

    @Test
    void the_wait_of_a_gate_that_stays_busy_doubles() throws InterruptedException {
        gatekeeper.knock(SHOP);
        turnUntilAsked(9);

        long took = gates.asked.get(8).at() - gates.asked.get(0).at();
        assertThat(Duration.ofNanos(took)).isGreaterThan(Duration.ofMillis(700));
    }

    @Test
    void each_gate_has_a_wait_of_its_own() throws InterruptedException {
        gatekeeper.knock(SHOP);
        turnUntilAsked(9);
        gatekeeper.knock(OTHER);
        turnUntilAsked(11);

        assertThat(gates.asked.get(9).gates()).contains(OTHER);
        assertThat(gates.asked.get(10).gates()).as("the other waits longer").containsExactly(OTHER);
    }

    @Test
    void a_knock_is_answered_at_once_and_shortens_the_wait_again() throws InterruptedException {
        gatekeeper.knock(SHOP);
        turnUntilAsked(10);
        gatekeeper.knock(SHOP);
        turnUntilAsked(12);

        long took = gates.asked.get(11).at() - gates.asked.get(10).at();
        assertThat(Duration.ofNanos(took)).isLessThan(Duration.ofMillis(700));
    }
}
