package io.carillon;

import java.util.Set;
import java.util.UUID;

/** The description of a node that it registers at its start. */
public record NodeInfo(
        UUID id, String name, String host, long pid, String version, Set<String> handlers, int slots, String wakeup) {
    public NodeInfo {
        handlers = Set.copyOf(handlers);
    }
}
