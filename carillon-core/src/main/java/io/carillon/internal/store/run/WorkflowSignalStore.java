package io.carillon.internal.store.run;

import io.carillon.internal.store.run.RunWaitStore.Resolution;
import io.carillon.internal.store.run.RunWaitStore.RunKey;
import io.carillon.run.Payload;
import io.carillon.run.RunId;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The port for signals to workflows. No call locks a run in the transaction of the sender. */
public interface WorkflowSignalStore {
    /** The most signals of a run that it has not taken. Concurrent senders may exceed it by one each. */
    int MAX_UNREAD = 1_000;

    /** The most bytes of the values of these signals. */
    int MAX_UNREAD_BYTES = 16 * 1024 * 1024;

    /** Stores a signal for a live run. A repeated call stores it once and answers as the first one. */
    Sent send(NewSignal signal, boolean notifyNodes);

    /** Returns the run that has this unique key, or had it and still holds it. */
    Optional<RunId> find(String project, String handler, String key);

    /** Makes those of these runs ready that wait for a signal that was sent. */
    Resolution wake(List<RunKey> waiting);

    /** Reads the next signals that no run has taken, and returns their runs. */
    Scan scan(@Nullable RunKey after, int limit);

    /** What became of a signal. */
    enum Sent {
        STORED,
        DUPLICATE,
        NO_LIVE_RUN,
        /** Live nodes have the handler of the run, and to none of them it is a workflow. */
        NO_WORKFLOW,
        TOO_MANY
    }

    /**
     * A signal to be stored.
     *
     * @param id names the call, so that a repeated one finds its own row
     * @param sendId the id by which duplicates are recognized
     */
    record NewSignal(String project, RunId run, UUID id, String sendId, String name, Payload value) {}

    /** The runs of pending signals. {@code last} is where the next call continues, or null at the end. */
    record Scan(List<RunKey> runs, @Nullable RunKey last) {
        public Scan {
            runs = List.copyOf(runs);
        }
    }
}
