package io.carillon.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.node.ClusterSize;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.GateStore;
import io.carillon.internal.value.DatabaseClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GatePromoterTest {
    private static final GateName SHOP = new GateName("default", "overlap:shop");
    private static final GateName OTHER = new GateName("default", "overlap:other");

    /** A store in which all gates are busy. Records the promotions. */
    private static final class BusyGates implements GateStore {
        record Promotion(long at, List<GateName> gates) {}

        final List<Promotion> promotions = new ArrayList<>();

        @Override
        public PromotionResult promote(Collection<GateName> gates) {
            promotions.add(new Promotion(System.nanoTime(), List.copyOf(gates)));
            return new PromotionResult(List.of(), List.copyOf(gates), List.of(), Map.of());
        }

        @Override
        public Arrivals findArrivals(int limit) {
            return new Arrivals(List.of(), Instant.EPOCH, Instant.MAX);
        }

        @Override
        public OpenGates findOpenGates(@Nullable GateName after, int limit) {
            return new OpenGates(List.of(), null);
        }
    }

    private final BusyGates gates = new BusyGates();
    private final GatePromoter gatePromoter =
            new GatePromoter(gates, new DatabaseClock(), new ClusterSize(), LoopReports.NONE, event -> {});

    private void runUntilAsked(int times) throws InterruptedException {
        while (gates.promotions.size() < times) gatePromoter.runRound();
    }

    @Test
    void the_wait_of_a_gate_that_stays_busy_doubles() throws InterruptedException {
        gatePromoter.requestPromotion(SHOP);
        runUntilAsked(9);

        long took = gates.promotions.get(8).at() - gates.promotions.get(0).at();
        assertThat(Duration.ofNanos(took)).isGreaterThan(Duration.ofMillis(700));
    }

    @Test
    void each_gate_has_its_own_wait() throws InterruptedException {
        gatePromoter.requestPromotion(SHOP);
        runUntilAsked(9);
        gatePromoter.requestPromotion(OTHER);
        runUntilAsked(11);

        assertThat(gates.promotions.get(9).gates()).contains(OTHER);
        assertThat(gates.promotions.get(10).gates())
                .as("the first gate still waits")
                .containsExactly(OTHER);
    }

    @Test
    void a_promotion_request_is_served_immediately_and_resets_the_wait() throws InterruptedException {
        gatePromoter.requestPromotion(SHOP);
        runUntilAsked(10);
        gatePromoter.requestPromotion(SHOP);
        runUntilAsked(12);

        long took = gates.promotions.get(11).at() - gates.promotions.get(10).at();
        assertThat(Duration.ofNanos(took)).isLessThan(Duration.ofMillis(700));
    }
}
