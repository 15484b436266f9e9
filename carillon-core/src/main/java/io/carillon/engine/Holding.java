package io.carillon.engine;

import io.carillon.run.RunId;
import io.carillon.store.ProgressNote;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Everything this node holds, by run: queued, running, and ended but not yet written. */
final class Holding {
    private final Map<RunId, Held> held = new ConcurrentHashMap<>();

    void add(Held one) {
        held.put(one.id(), one);
    }

    /** Forgets an attempt, unless a later attempt of the same run has taken its place. */
    void remove(Held one) {
        held.remove(one.id(), one);
    }

    Optional<Held> find(RunId run) {
        return Optional.ofNullable(held.get(run));
    }

    Collection<Held> all() {
        return held.values();
    }

    int size() {
        return held.size();
    }

    /** What long runs said of their progress. */
    List<ProgressNote> progress() {
        return held.values().stream()
                .filter(one -> one.progressNow() != null)
                .map(one -> new ProgressNote(
                        one.attemptValue().lane().project(),
                        one.id(),
                        one.attempt(),
                        java.util.Objects.requireNonNull(one.progressNow())))
                .toList();
    }
}
