package io.carillon.internal.store.run;

import io.carillon.internal.run.Lane;
import io.carillon.run.RunId;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The port for runs that wait for the end of other runs. All calls are idempotent: a wait is resolved in one way,
 * and it does not matter by which node.
 */
public interface RunWaitStore {
    /** Resolves the waits for runs that have ended. */
    Resolution resolveAwaited(List<RunKey> ended);

    /** Resolves the waits of these runs, as far as the runs they wait for have ended. */
    Resolution resolve(List<RunKey> waiting);

    /** Reads the next waits after {@code after}, or the first ones if null. Returns those that can be resolved. */
    Scan scan(@Nullable Position after, int limit);

    /** A run and its project. */
    record RunKey(String project, RunId run) {}

    /** The place of a wait in the order of the scan. */
    record Position(String project, UUID waiting, UUID awaited) {}

    /** The runs that wait for an ended run. {@code last} is where the next call continues, or null at the end. */
    record Scan(List<RunKey> waiting, @Nullable Position last) {
        public Scan {
            waiting = List.copyOf(waiting);
        }
    }

    /**
     * What became of waiting runs.
     *
     * @param lanes lanes with runs that became ready
     * @param gates gates at which runs arrived
     * @param cancelled runs that were cancelled because an awaited run did not succeed
     * @param busy runs that another transaction had locked; they must be tried again
     */
    record Resolution(List<Lane> lanes, List<GateName> gates, List<RunKey> cancelled, List<RunKey> busy) {
        public Resolution {
            lanes = List.copyOf(lanes);
            gates = List.copyOf(gates);
            cancelled = List.copyOf(cancelled);
            busy = List.copyOf(busy);
        }
    }
}
