package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.event.EventId;
import io.carillon.event.Relay;
import io.carillon.event.Relays;
import io.carillon.internal.store.event.RelayStore;
import java.util.List;
import java.util.Optional;

/** The relays of one project. */
final class ProjectRelays implements Relays {
    static final int MAX_LIMIT = 1_000;

    private final String project;
    private final RelayStore store;

    ProjectRelays(String project, RelayStore store) {
        this.project = project;
        this.store = store;
    }

    private RelayStore.Name name(String relay) {
        return new RelayStore.Name(project, relay);
    }

    static int checkLimit(int limit) {
        if (limit < 1 || limit > MAX_LIMIT)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "limit must be between 1 and %d (was %d).".formatted(MAX_LIMIT, limit));
        return limit;
    }

    @Override
    public List<Relay> list(String after, int limit) {
        return store.list(project, after, checkLimit(limit));
    }

    @Override
    public Optional<Relay> get(String relay) {
        return store.find(name(relay));
    }

    @Override
    public List<Relay.Rejected> rejected(String relay, int limit) {
        return store.rejected(name(relay), checkLimit(limit));
    }

    @Override
    public boolean retry(String relay, EventId event) {
        return store.decide(name(relay), event, true);
    }

    @Override
    public boolean skip(String relay, EventId event) {
        return store.decide(name(relay), event, false);
    }

    @Override
    public boolean remove(String relay) {
        return store.remove(name(relay));
    }
}
