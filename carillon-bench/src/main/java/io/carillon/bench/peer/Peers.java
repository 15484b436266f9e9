package io.carillon.bench.peer;

import java.util.List;

/** All peers, by name. */
public final class Peers {
    public static final String DB_SCHEDULER = "db-scheduler";

    private Peers() {}

    public static List<Peer> all() {
        return List.of(new DbScheduler(), new Quartz(), new JobRunr());
    }

    public static List<String> names() {
        return all().stream().map(Peer::name).toList();
    }

    /** Returns the peer with this name. */
    public static Peer named(String name) {
        return all().stream()
                .filter(peer -> peer.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "Unknown peer '%s'. Choose from %s, or none.".formatted(name, String.join(", ", names()))));
    }
}
