package io.carillon.internal.store.node;

import java.util.Set;
import java.util.UUID;

/** The description of a node that it registers at its start. */
public record NodeRegistration(
        UUID id, String name, String host, long pid, String version, Set<String> handlers, int slots, String wakeup) {
    public NodeRegistration {
        handlers = Set.copyOf(handlers);
    }
}
