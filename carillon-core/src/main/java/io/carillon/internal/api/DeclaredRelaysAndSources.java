package io.carillon.internal.api;

import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.engine.relay.RelayAndSourceLoops;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.RelayStore;
import io.carillon.internal.value.Names;
import io.carillon.spi.EventRelay;
import io.carillon.spi.EventSource;
import java.util.LinkedHashMap;
import java.util.Map;

/** The relays and sources that a process declares. */
public final class DeclaredRelaysAndSources {
    private final Map<String, EventRelay> relays = new LinkedHashMap<>();
    private final Map<String, EventSource> sources = new LinkedHashMap<>();

    public void add(EventRelay relay) {
        requireNonNull(relay, "relay");
        if (relays.putIfAbsent(Names.check("relay", relay.name()), relay) != null)
            throw duplicate("relays", relay.name());
    }

    public void add(EventSource source) {
        requireNonNull(source, "source");
        if (sources.putIfAbsent(Names.check("source", source.name()), source) != null)
            throw duplicate("sources", source.name());
    }

    private static CarillonException duplicate(String kind, String name) {
        return new CarillonException(
                ErrorCode.INVALID_OPTION, "Two %s are named '%s'. Their names must be unique.".formatted(kind, name));
    }

    /** Stores the declared relays, and returns what a node needs. */
    public RelayAndSourceLoops.Declared declareIn(Storage storage, RunFactory runFactory) {
        String project = runFactory.project();
        for (EventRelay relay : relays.values())
            storage.relays()
                    .declare(new RelayStore.Declaration(
                            new RelayStore.Name(project, relay.name()),
                            relay.topic().name(),
                            relay.destination(),
                            relay.start()));
        return new RelayAndSourceLoops.Declared(
                project,
                relays.values().stream().toList(),
                sources.values().stream()
                        .map(source -> new RelayAndSourceLoops.DeclaredSource(
                                source,
                                published -> new ProjectSources.StoredPositions(
                                        runFactory, source.name(), storage.sources(), published)))
                        .toList());
    }
}
