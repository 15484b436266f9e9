package io.carillon.internal.store.node;

import java.util.Set;
import java.util.UUID;

/**
 * The description of a node that it registers at its start.
 *
 * @param workflows those handlers that are workflows
 */
public record NodeRegistration(
        UUID id,
        String name,
        String host,
        long pid,
        String version,
        Set<String> handlers,
        Set<String> workflows,
        int slots,
        String wakeup) {
    public NodeRegistration {
        handlers = Set.copyOf(handlers);
        workflows = Set.copyOf(workflows);
    }
}
