package io.carillon.internal.store.run;

import io.carillon.internal.run.Lane;
import io.carillon.spi.ScheduleEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Promotes runs through their gates. No count is stored: under the gate's lock, the store counts the runs that were
 * promoted and have not ended. So a crash at any point leaves no wrong count.
 */
public interface GateStore {
    /** Promotes the next runs as far as the limits and the overlap policies allow. */
    PromotionResult promote(Collection<GateName> gates);

    /** Returns the gates at which runs have become due, and when the next ones will. */
    Arrivals findArrivals(int limit);

    /**
     * Reads gates in the order of their names, after {@code after} if it is not null, and returns those with a parked
     * run that could be promoted.
     */
    OpenGates findOpenGates(@Nullable GateName after, int limit);

    /**
     * The result of a promotion.
     *
     * @param lanes lanes with new runs to claim
     * @param busy gates that another transaction had locked; they must be tried again
     * @param skipped instants that an overlap policy skipped
     * @param retryAfter time-based gates, and after how long to try them again
     */
    record PromotionResult(
            List<Lane> lanes,
            List<GateName> busy,
            List<ScheduleEvent.Skipped> skipped,
            Map<GateName, Duration> retryAfter) {
        public PromotionResult {
            lanes = List.copyOf(lanes);
            busy = List.copyOf(busy);
            skipped = List.copyOf(skipped);
            retryAfter = Map.copyOf(retryAfter);
        }
    }

    /**
     * The gates at which runs have become due. {@code next} is when the next run becomes due, or {@link Instant#MAX} if
     * that is not soon.
     */
    record Arrivals(List<GateName> gates, Instant now, Instant next) {
        public Arrivals {
            gates = List.copyOf(gates);
        }
    }

    /**
     * The gates with runs that could be promoted. {@code last} is where the next call continues, or null at the end.
     */
    record OpenGates(List<GateName> gates, @Nullable GateName last) {
        public OpenGates {
            gates = List.copyOf(gates);
        }
    }
}
