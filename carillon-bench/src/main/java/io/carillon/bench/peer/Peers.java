package io.carillon.bench.peer;

import java.util.List;
import java.util.stream.Stream;

/** All peers, by name. */
public final class Peers {
    public static final String DB_SCHEDULER = "db-scheduler";

    private Peers() {}

    private static final List<Peer> JAVA = List.of(new DbScheduler(), new Quartz(), new JobRunr());
    private static final List<Peer> JAVASCRIPT = List.of(
            new NodePeer("graphile-worker", "24 concurrent, local queue of 500, poll 100 ms, pool of 10", 11_000, true),
            new NodePeer("pg-boss", "batches of 500, 2 local workers, bursts, poll 0.5 s, pool of 10", 11_000, false));

    /** Returns the peers that this machine can run: those in JavaScript need npm. */
    public static List<Peer> all() {
        return NodePackages.isNpmInstalled() ? every() : JAVA;
    }

    private static List<Peer> every() {
        return Stream.concat(JAVA.stream(), JAVASCRIPT.stream()).toList();
    }

    /** Returns the peers that need only the tools that build Carillon. */
    public static List<Peer> inJava() {
        return JAVA;
    }

    public static List<String> names() {
        return every().stream().map(Peer::name).toList();
    }

    /** Returns the peer with this name. */
    public static Peer named(String name) {
        return every().stream()
                .filter(peer -> peer.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "Unknown peer '%s'. Choose from %s, or none.".formatted(name, String.join(", ", names()))));
    }
}
