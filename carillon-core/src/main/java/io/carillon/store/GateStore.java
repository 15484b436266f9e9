package io.carillon.store;

import io.carillon.run.Lane;
import io.carillon.schedule.ScheduleEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Lets runs through their gates. Nobody keeps a count: whoever is through and has not ended is counted each time, under the gate's lock, so a crash at any
 * point leaves nothing that would have to be put right.
 */
public interface GateStore {
    /** Lets the next ones through as far as the limits and the overlap policies allow. */
    Passed pass(Collection<GateName> gates);

    /** The gates at which runs have arrived, because their time has come, and when the next ones will. */
    Arrivals arrive(int limit);

    /** Looks at gates in the order of their names, from behind {@code after} on, for those where somebody waits and could pass. */
    Opened open(@Nullable GateName after, int limit);

    /**
     * The lanes that have something new to claim, the gates somebody else was at, which must be asked again, what overlap policies skipped, and the gates that
     * this storage must be asked for again after a while, because only the time makes room there.
     */
    record Passed(
            List<Lane> lanes, List<GateName> busy, List<ScheduleEvent.Skipped> skipped, Map<GateName, Duration> again) {
        public Passed {
            lanes = List.copyOf(lanes);
            busy = List.copyOf(busy);
            skipped = List.copyOf(skipped);
            again = Map.copyOf(again);
        }
    }

    /** {@code next}: when the next run arrives, if that is soon; {@link Instant#MAX} else. */
    record Arrivals(List<GateName> gates, Instant now, Instant next) {
        public Arrivals {
            gates = List.copyOf(gates);
        }
    }

    /** {@code last}: where to go on; null: that was the end. */
    record Opened(List<GateName> gates, @Nullable GateName last) {
        public Opened {
            gates = List.copyOf(gates);
        }
    }
}
