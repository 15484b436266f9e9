package io.carillon;

import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import io.carillon.run.NewRun;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Stores runs in the caller's transaction, so that they exist if and only if it commits. In the mode {@code notify} the hint rides along with the commit. A
 * message of a transport cannot, and only the caller knows of the commit: {@link #committed()} sends it. For one thread, as the connection is.
 */
public final class InTransaction implements Enqueuing {
    private final Payloads payloads;
    private final Function<List<NewRun>, List<EnqueueResult>> store;
    private final Consumer<NewRun> announce;
    private final List<NewRun> stored = new ArrayList<>();

    InTransaction(Payloads payloads, Function<List<NewRun>, List<EnqueueResult>> store, Consumer<NewRun> announce) {
        this.payloads = payloads;
        this.store = store;
        this.announce = announce;
    }

    @Override
    public <T> EnqueueResult enqueue(HandlerType<T> type, T payload, Enqueue options) {
        return stored(List.of(payloads.run(type, payload, options))).get(0);
    }

    @Override
    public <T> List<EnqueueResult> enqueueAll(HandlerType<T> type, Collection<T> values, Enqueue options) {
        return stored(
                values.stream().map(value -> payloads.run(type, value, options)).toList());
    }

    private List<EnqueueResult> stored(List<NewRun> runs) {
        if (runs.isEmpty()) return List.of();
        List<EnqueueResult> results = store.apply(runs);
        // All runs of one call share a lane, a due time and a gate.
        stored.add(runs.get(0));
        return results;
    }

    /** To be called after the commit, where a transport wakes the nodes or this process has one. Whoever does not call it waits until a node looks for itself. */
    public void committed() {
        stored.forEach(announce);
        stored.clear();
    }
}
