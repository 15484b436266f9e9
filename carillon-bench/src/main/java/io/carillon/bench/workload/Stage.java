package io.carillon.bench.workload;

import io.carillon.bench.measure.Progress;
import io.carillon.bench.peer.Peer;
import io.carillon.bench.server.BenchServer;
import java.util.List;

/** What a workload is given: a server, the peers that were asked for, how thorough to be, and somebody who listens. */
public record Stage(BenchServer server, List<Peer> peers, Profile profile, Progress progress) {
    public Stage {
        peers = List.copyOf(peers);
    }

    /** Round 0 warms up and does not count; the smoke test does without. */
    int firstRound() {
        return profile == Profile.SMOKE ? 1 : 0;
    }

    /** Medians are made of three rounds; the smoke test of one. */
    int rounds() {
        return profile.pick(1, 3, 5);
    }
}
